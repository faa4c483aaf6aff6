"""Which commands does this layer add?"""

from corpus.commands import Commands


def add_commands(commands: Commands) -> None:
    return None
