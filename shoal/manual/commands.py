"""The page of the commands, made from the parsers of the command line, so that it lists what there is."""

import argparse

from shoal.cli import COMMANDS, GUIDE, make_parser
from shoal.cli.tables import markdown_table


def commands_page() -> str:
    """Every command with its usage and its options."""
    parts = ["# The commands", "One program, `shoal`. Alone it says:", f"```text\n{GUIDE}```"]
    parts.append(
        "The exit code is 0, 1 where a check failed, 2 on bad input. Errors are one line that says what to do. "
        "`--json`, where there is one, is for machines."
    )
    for name, parser in parsers(make_parser()).items():
        parts += [f"## `shoal {name}`", f"{COMMANDS[name].capitalize()}."]
        parts += _described(parser)
    return "\n\n".join(parts) + "\n"


def parsers(parser: argparse.ArgumentParser) -> dict[str, argparse.ArgumentParser]:
    """The parsers of the commands below a parser, by name."""
    below = [action for action in parser._actions if isinstance(action, argparse._SubParsersAction)]
    return {name: made for action in below for name, made in action.choices.items()}


def _described(parser: argparse.ArgumentParser) -> list[str]:
    usage = parser.format_usage().removeprefix("usage: ")
    parts = [f"```text\n{usage}```"]
    shown = [a for a in parser._actions if not isinstance(a, argparse._SubParsersAction | argparse._HelpAction)]
    if shown:
        parts.append(markdown_table([_row(action) for action in shown], ["option", "what it is", "default"]))
    for name, below in parsers(parser).items():
        parts += [f"### `{parser.prog} {name}`", *_described(below)]
    return parts


def _row(action: argparse.Action) -> tuple[str, str, str]:
    names = ", ".join(f"`{name}`" for name in action.option_strings) or f"`{action.metavar or action.dest}`"
    said = [(action.help or "").replace("%(default)s", str(action.default)).replace("<", "&lt;")]
    if action.choices:
        said.append("one of " + ", ".join(f"`{choice}`" for choice in action.choices))
    return names, "; ".join(part for part in said if part), _default(action)


def _default(action: argparse.Action) -> str:
    hidden = action.default in (None, "", False, argparse.SUPPRESS) or action.default == [] or action.nargs == 0
    return "" if hidden else f"`{action.default}`"
