"""How are accounts made from the command line? shoal admin create."""

import argparse
import getpass
import sys
from pathlib import Path

from shoal.corpus.errors import InputError
from shoal.webapp.core.settings import Settings, default_instance


def add_options(parser: argparse.ArgumentParser) -> None:
    actions = parser.add_subparsers(dest="action", required=True, metavar="ACTION")
    create = actions.add_parser("create", help="a new account")
    create.add_argument("name")
    create.add_argument("--one-time", action="store_true", help="make a password that must be changed at first log-in")
    create.add_argument("--instance", type=Path, help="the folder of accounts, runs and releases")
    create.add_argument("--database", default="", metavar="URL", help="a database other than SQLite in that folder")
    create.set_defaults(run=run_create)


def run_create(options: argparse.Namespace) -> None:
    """The password comes from the terminal or from standard input, never from the command line: others could see it."""
    from shoal.webapp.core.accounts import create_account
    from shoal.webapp.core.instance import move_old_instance
    from shoal.webapp.database import Database

    settings = Settings(database_url=options.database, instance=options.instance or default_instance())
    move_old_instance(settings.instance, print)
    database = Database(settings.database)
    database.upgrade()
    given = "" if options.one_time else _ask_password()
    password = create_account(database, options.name, given)
    print(f"account {options.name} is there" + (f"; its one-time password is {password}" if not given else ""))


def _ask_password() -> str:
    if not sys.stdin.isatty():
        password = sys.stdin.readline().rstrip("\n")
    else:
        password = getpass.getpass("Password: ")
        if password != getpass.getpass("The same again: "):
            raise InputError("the two passwords differ: run the command again")
    if not password:
        raise InputError("no password was given: type one, pipe one in, or use --one-time")
    return password
