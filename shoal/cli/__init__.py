"""What can be done from the command line? One program, one file per command."""

import argparse
import os
import sys
from collections.abc import Sequence
from importlib import import_module
from importlib.metadata import version

from shoal.corpus.errors import InputError

COMMANDS = "setup serve methods measures simulate anonymize verify measure search evaluate compare bench admin".split()


def program() -> int:
    """The program `shoal`. Processes that it starts import nothing from the current folder either."""
    os.environ["PYTHONSAFEPATH"] = "1"
    return main()


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command: 0, 1 where a check failed, 2 on bad input. Errors are one line on standard error."""
    try:
        options = make_parser().parse_args(arguments)
        code = options.run(options)
        sys.stdout.flush()
        return int(code or 0)
    except InputError as error:
        print(f"shoal: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("shoal: stopped", file=sys.stderr)
        return 130
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except OSError as error:  # a full disk, a folder without permission: the user's to mend
        place = f" ({error.filename})" if error.filename else ""
        print(
            f"shoal: {error.strerror or error}{place}: free space or choose another folder, and run the command again",
            file=sys.stderr,
        )
        return 2


def make_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="shoal", description=__doc__, allow_abbrev=False)
    parser.add_argument("--version", action="version", version=f"shoal {version('shoal')}")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for name in COMMANDS:
        import_module(f"{__name__}.{name}").add_commands(commands)
    return parser
