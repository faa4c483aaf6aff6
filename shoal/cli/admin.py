"""How are accounts and tokens looked after from the command line? shoal admin create, list, role, ..., issue-token."""

import argparse
import getpass
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
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
from shoal.webapp.database import Database, LogFile

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
    _add(actions, "list", "all accounts", run_list, given=None).add_argument("--json", action="store_true")
    _add_token_options(actions)


def _add_token_options(actions: Any) -> None:
    issue = _add(actions, "issue-token", "a token, by which a person of a real log sees the own group", run_issue, None)
    issue.add_argument("--log", type=int, default=0, metavar="NUMBER", help="of which log, where there are several")
    issue.add_argument("--days", type=int, help="how long it is good (90 if left out)")
    issue.add_argument("--note", default="", help="what to remember it by; not the person's name")
    tokens = _add(actions, "list-tokens", "all tokens: nobody's id, nobody's group", run_list_tokens, None)
    tokens.add_argument("--json", action="store_true")
    _add(actions, "revoke-token", "refuse a token from now on", run_revoke, None).add_argument("number", type=int)


def _add(actions: Any, name: str, help: str, run: Action, given: str | None = "name") -> argparse.ArgumentParser:
    parser: argparse.ArgumentParser = actions.add_parser(name, help=help)
    if given:
        parser.add_argument(given)
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
