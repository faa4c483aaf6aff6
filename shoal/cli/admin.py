"""How are accounts and tokens looked after from the command line? shoal admin create, list, role, ..., issue-token."""

import argparse
import getpass
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime

from shoal.cli.options import instance_settings
from shoal.cli.tables import print_json, print_table
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
from shoal.webapp.core.settings import Settings
from shoal.webapp.database import Database, LogFile

_BY = "shoal admin"  # as the audit names who did it
Action = Callable[[Database, Settings, argparse.Namespace], None]


def run(options: argparse.Namespace) -> None:
    settings = instance_settings(options)
    with open_instance(settings) as database:
        ACTIONS[options.action](database, settings, options)


@contextmanager
def open_instance(settings: Settings) -> Iterator[Database]:
    """The database of an instance, for a command that is over soon."""
    from shoal.webapp.core.instance import move_old_instance, refuse_lost_database  # which load all of releases

    move_old_instance(settings.instance, print)
    settings.protect_folder()
    database = Database(settings.database)
    try:
        refuse_lost_database(database, settings.instance)
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
         _day(one.created_at))
        for one in list_accounts(database)
    ]  # fmt: skip
    _print_rows(rows, ("name", "role", "state", "since"), options.json)


def run_issue(database: Database, settings: Settings, options: argparse.Namespace) -> None:
    """The id of the person comes from the terminal or from standard input: a command line is for others to see."""
    from shoal.webapp.core.tokens import DAYS
    from shoal.webapp.jobs.tokens import issue_token  # which loads all that reads releases

    log = _real_log(database, options.log)
    user = input("Id of the person, as it stands in the log: ") if sys.stdin.isatty() else sys.stdin.readline()
    days = DAYS if options.days is None else options.days
    number, token = issue_token(database, settings, log.digest, user.strip(), days=days, about=options.note, by=_BY)
    print(f"token {number} of {log.name}, good for {days} days; it is shown once:")
    print(token)


def _real_log(database: Database, number: int) -> LogFile:
    """The log of that number, or the only one whose people are real."""
    from shoal.webapp.core.logs import get_log, list_logs

    if number:
        return get_log(database, number)
    real = [log for log in list_logs(database) if log.people == "real"]
    if len(real) == 1:
        return real[0]
    known = "; ".join(f"{log.id} is {log.name}" for log in real) or "start the server with one first"
    raise InputError(f"there are {len(real)} logs of real people: choose one by --log NUMBER ({known})")


def run_list_tokens(database: Database, settings: Settings, options: argparse.Namespace) -> None:
    from shoal.webapp.core.tokens import list_tokens, state_of

    header = ("number", "state", "until", "issued", "by", "note")
    rows = [
        (str(one.id), state_of(one), _day(one.expires_at), _day(one.created_at), one.account, one.note)
        for one in list_tokens(database)
    ]
    _print_rows(rows, header, options.json)


def _day(moment: datetime) -> str:
    return moment.isoformat(timespec="seconds")


def _print_rows(rows: Sequence[Sequence[str]], header: tuple[str, ...], as_json: bool) -> None:
    if as_json:
        print_json([dict(zip(header, row, strict=True)) for row in rows])
    else:
        print_table(rows, header)


def run_revoke(database: Database, settings: Settings, options: argparse.Namespace) -> None:
    from shoal.webapp.core.tokens import revoke_token

    revoke_token(database, options.number, _BY)
    print(f"token {options.number} is refused from now on")


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


ACTIONS: dict[str, Action] = {
    "create": run_create, "reset": run_reset, "disable": run_disable, "enable": run_enable, "role": run_role,
    "delete": run_delete, "list": run_list, "issue-token": run_issue, "list-tokens": run_list_tokens,
    "revoke-token": run_revoke,
}  # fmt: skip
