"""How are accounts looked after from the command line? shoal admin create, list, role, disable, reset, delete."""

import argparse
import getpass
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from shoal.cli.options import add_instance_options, instance_settings, print_json, print_table
from shoal.corpus.errors import InputError
from shoal.webapp.core.accounts import (
    change_account,
    create_account,
    delete_account,
    forget_one_time,
    list_accounts,
    reset_password,
    write_one_time,
)
from shoal.webapp.core.roles import MAY, OPERATOR, ROLES
from shoal.webapp.core.settings import Settings
from shoal.webapp.database import Database

_BY = "shoal admin"  # as the audit names who did it
Action = Callable[[Database, Settings, argparse.Namespace], None]


def add_options(parser: argparse.ArgumentParser) -> None:
    actions = parser.add_subparsers(dest="action", required=True, metavar="ACTION")
    create = _add(actions, "create", "a new account", run_create)
    create.add_argument("--role", choices=ROLES, default=OPERATOR, help="; ".join(f"{r} {MAY[r]}" for r in ROLES))
    create.add_argument("--one-time", action="store_true", help="make a password that must be changed within a day")
    _add(actions, "reset", "a one-time password in place of one that was forgotten", run_reset)
    _add(actions, "disable", "no more log-ins; those that last end at once", run_disable)
    _add(actions, "enable", "log-ins again", run_enable)
    _add(actions, "role", "another role", run_role).add_argument("role", choices=ROLES)
    _add(actions, "delete", "take the account away; its name stays in the history", run_delete)
    listed = actions.add_parser("list", help="all accounts")
    listed.add_argument("--json", action="store_true")
    add_instance_options(listed)
    listed.set_defaults(run=lambda options: _with_database(run_list, options))


def _add(actions: Any, name: str, help: str, run: Action) -> argparse.ArgumentParser:
    parser: argparse.ArgumentParser = actions.add_parser(name, help=help)
    parser.add_argument("name")
    add_instance_options(parser)
    parser.set_defaults(run=lambda options: _with_database(run, options))
    return parser


def _with_database(run: Action, options: argparse.Namespace) -> None:
    settings = instance_settings(options)
    with open_instance(settings) as database:
        run(database, settings, options)


@contextmanager
def open_instance(settings: Settings) -> Iterator[Database]:
    """The database of an instance, for a command that is over soon."""
    from shoal.webapp.core.instance import move_old_instance  # which loads all that makes releases

    move_old_instance(settings.instance, print)
    settings.protect_folder()
    database = Database(settings.database)
    try:
        database.upgrade()
        yield database
    finally:
        database.close()


def run_create(database: Database, settings: Settings, options: argparse.Namespace) -> None:
    """The password comes from the terminal or from standard input, never from the command line: others could see it."""
    given = "" if options.one_time else _ask_password()
    password = create_account(database, options.name, given, options.role, _BY)
    print(f"account {options.name} ({options.role}) is there")
    if not given:
        _tell_one_time(settings, options.name, password)


def run_reset(database: Database, settings: Settings, options: argparse.Namespace) -> None:
    _tell_one_time(settings, options.name, reset_password(database, options.name, _BY))


def _tell_one_time(settings: Settings, name: str, password: str) -> None:
    print(f"it is in {write_one_time(settings.instance, name, password)} and good for 24 hours")
    print(f"its one-time password is {password}")


def run_disable(database: Database, settings: Settings, options: argparse.Namespace) -> None:
    change_account(database, options.name, disabled=True, by=_BY)
    print(f"account {options.name} is disabled")


def run_enable(database: Database, settings: Settings, options: argparse.Namespace) -> None:
    change_account(database, options.name, disabled=False, by=_BY)
    print(f"account {options.name} is enabled")


def run_role(database: Database, settings: Settings, options: argparse.Namespace) -> None:
    change_account(database, options.name, role=options.role, by=_BY)
    print(f"account {options.name} is {options.role} now")


def run_delete(database: Database, settings: Settings, options: argparse.Namespace) -> None:
    delete_account(database, options.name, _BY)
    forget_one_time(settings.instance, options.name)
    print(f"account {options.name} is gone")


def run_list(database: Database, settings: Settings, options: argparse.Namespace) -> None:
    rows = [
        (one.name, one.role, "disabled" if one.disabled else "one-time password" if one.must_change else "enabled",
         one.created_at.isoformat(timespec="seconds"))
        for one in list_accounts(database)
    ]  # fmt: skip
    header = ("name", "role", "state", "since")
    if options.json:
        print_json([dict(zip(header, row, strict=True)) for row in rows])
    else:
        print_table(rows, header)


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
