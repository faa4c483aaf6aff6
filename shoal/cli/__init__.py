"""What can be done from the command line? One program, one file per command."""

import argparse
import gc
import os
import sys
from collections.abc import Sequence
from importlib import import_module
from importlib.machinery import ModuleSpec, PathFinder
from importlib.util import LazyLoader
from types import ModuleType
from typing import Any

from shoal.cli.arguments import OPTIONS
from shoal.corpus.errors import InputError
from shoal.corpus.version import VERSION

COMMANDS = {
    "setup": "bring data, build taxonomy, vectors and index, compile",
    "serve": "set up if needed, then serve the pages",
    "methods": "methods, parameters, paper, what they do not protect",
    "measures": "what is measured: formula, range, which way is better, paper",
    "simulate": "a log of simulated users, and the table of its calibration",
    "anonymize": "make a release of a log",
    "verify": "re-check the claim on what was published",
    "measure": "utility of a release, and attacks on it",
    "search": "search a corpus, plain or with a profile",
    "evaluate": "precision against privacy, for every method and setting",
    "compare": "two evaluations: what changed, and is it more than noise?",
    "graph": "groups, their terms and queries as a graph, for networkx and others",
    "bench": "the cost tables",
    "admin": "accounts of operators",
}

COMPLETION = "--print-completion"
GUIDE = """\
shoal: search personalized with the profile of a group, and what that costs and protects. Three ways to begin:

  shoal serve                                         the pages: search three ways side by side
  shoal simulate --users 300 --out log.tsv            a log of simulated users, and of it a release:
    shoal anonymize --log log.tsv --method common --out release
  shoal evaluate --corpus news --out results          precision against privacy of every method

shoal --help lists all commands, shoal COMMAND --help the options of one. In Python: import shoal.
"""


def program() -> int:
    """The program `shoal`. Processes that it starts import nothing from the current folder either."""
    os.environ["PYTHONSAFEPATH"] = "1"
    sys.meta_path.insert(0, Later())
    return main()


class Later:
    """Finds what others load and nobody asks anything of: it is loaded when somebody does.

    scipy takes over every name of numpy, and so loads what compiles Fortran, a tenth of the time of a start.
    """

    names = frozenset({"numpy.f2py"})

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        spec = PathFinder.find_spec(name, path, target) if name in self.names else None
        if spec is not None and spec.loader is not None:
            spec.loader = LazyLoader(spec.loader)
        return spec


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command: 0, 1 where a check failed, 2 on bad input. Errors are one line on standard error."""
    try:
        given = sys.argv[1:] if arguments is None else list(arguments)
        if not given:
            print(GUIDE, end="")
            return 0
        options = make_parser().parse_args(given)
        code = _loaded(options.command).run(options)
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


def _loaded(command: str) -> Any:
    """The module of a command. Nothing that is loaded is garbage, and looking for it takes a sixth of the time."""
    collecting = gc.isenabled()
    gc.disable()
    try:
        return import_module(f"{__name__}.{command}")
    finally:
        if collecting:
            gc.enable()


class Completion(argparse.Action):
    """Print what a shell needs to complete commands and their options."""

    def __call__(self, parser: argparse.ArgumentParser, *given: Any) -> None:
        import shtab

        print(shtab.complete(parser, given[1]))
        parser.exit()


def make_parser() -> argparse.ArgumentParser:
    """The options of all commands. What a command does is loaded when it is known which one is asked for."""
    parser = argparse.ArgumentParser(prog="shoal", description=__doc__, allow_abbrev=False)
    parser.add_argument("--version", action="version", version=f"shoal {VERSION}")
    parser.add_argument(
        COMPLETION, action=Completion, choices=("bash", "zsh", "tcsh"), help="what a shell completes commands with"
    )
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for name, what in COMMANDS.items():
        OPTIONS[name](commands.add_parser(name, help=what))
    return parser
