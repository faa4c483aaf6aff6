"""Who may operate the server? Accounts, their roles and passwords, and log-ins that can be ended."""

import hashlib
import os
import re
import secrets
from datetime import timedelta
from functools import cache
from pathlib import Path

from sqlalchemy import ColumnElement, delete, func, select
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session
from werkzeug.security import check_password_hash, generate_password_hash

from shoal.corpus.errors import Conflict, InputError, NotFound
from shoal.webapp.core.audit import note
from shoal.webapp.core.roles import ADMINISTRATOR, OPERATOR, ROLES
from shoal.webapp.database import Account, Attempt, Database, Visit
from shoal.webapp.database.models import now

FEWEST_LETTERS = 12
MOST_LETTERS = 200
VISIT_LASTS = timedelta(hours=12)
ONE_TIME_LASTS = timedelta(hours=24)
HASHING = "scrypt:32768:8:1"  # a twentieth of a second for each guess
_NAME = re.compile(r"[A-Za-z0-9._-]{1,64}")


def create_account(database: Database, name: str, password: str = "", role: str = OPERATOR, by: str = "") -> str:
    """A new account. Without a password one is made, which must be changed within a day. Returns it."""
    if not _NAME.fullmatch(name):
        raise InputError(f"{name[:70]!r} is no account name: use up to 64 letters, digits, dots, dashes or underscores")
    one_time = not password
    password = password or secrets.token_urlsafe(12)
    made = Account(name=name, role=_known(role))
    _set_password(made, password, one_time=one_time)
    try:
        with database.writing() as session:
            session.add(made)
            note(session, "account.create", by, name, {"role": role})
    except IntegrityError as error:
        raise Conflict(f"there is an account {name!r} already: choose another name") from error
    return password


def _known(role: str) -> str:
    if role not in ROLES:
        raise InputError(f"{role[:20]!r} is no role: choose one of {', '.join(ROLES)}")
    return role


def _set_password(account: Account, password: str, *, one_time: bool) -> None:
    account.password, account.must_change = _hashed(password), one_time
    account.expires_at = now() + ONE_TIME_LASTS if one_time else None


def create_first_account(database: Database, name: str = "admin") -> str | None:
    """An administrator with a one-time password, if there is no account at all."""
    with database.reading() as session:
        if session.scalar(select(func.count()).select_from(Account)):
            return None
    return create_account(database, name, role=ADMINISTRATOR)


def list_accounts(database: Database) -> list[Account]:
    with database.reading() as session:
        return list(session.scalars(select(Account).order_by(Account.name)))


def find_account(database: Database, name: str) -> Account | None:
    with database.reading() as session:
        return session.scalar(select(Account).where(Account.name == name[:64]))


def change_account(
    database: Database, name: str, *, role: str = "", disabled: bool | None = None, by: str = ""
) -> None:
    """Another role, or no more (or again) log-ins. What the account could do before, it can no longer do at once."""
    with database.writing() as session:
        account = _named(session, name)
        account.role = _known(role) if role else account.role
        account.disabled = account.disabled if disabled is None else disabled
        _keep_an_administrator(session)
        if account.disabled:
            _end_visits(session, account)
        note(session, "account.change", by, account.name, {"role": account.role, "disabled": account.disabled})


def reset_password(database: Database, name: str, by: str = "") -> str:
    """A one-time password in place of the old one; every log-in of the account ends, and failed tries are forgotten."""
    password = secrets.token_urlsafe(12)
    with database.writing() as session:
        account = _named(session, name)
        _set_password(account, password, one_time=True)
        _end_visits(session, account)
        session.execute(delete(Attempt).where(Attempt.succeeded.is_(False)))
        note(session, "account.reset", by, account.name)
    return password


def delete_account(database: Database, name: str, by: str = "") -> None:
    """Its name stays where it stands in the history and in the audit."""
    with database.writing() as session:
        session.delete(_named(session, name))
        _keep_an_administrator(session)
        note(session, "account.delete", by, name)


def _named(session: Session, name: str) -> Account:
    found = session.scalar(select(Account).where(Account.name == name[:64]).with_for_update())
    if found is None:
        raise NotFound(f"there is no account {name[:64]!r}: choose one from the list of accounts")
    return found


def _keep_an_administrator(session: Session) -> None:
    """Else nobody could make one again. The rows are held: of two who disable each other only one goes through."""
    able: ColumnElement[bool] = (Account.role == ADMINISTRATOR) & Account.disabled.is_(False)
    session.flush()
    if not session.scalars(select(Account.id).where(able).with_for_update()).all():
        raise Conflict("this is the last account of an administrator: make another one first")


def _end_visits(session: Session, account: Account) -> None:
    session.execute(delete(Visit).where(Visit.account_id == account.id))


def check_password(database: Database, name: str, password: str) -> Account | None:
    """The account, unless it is disabled, or the password is another or was for one time and is too old."""
    account = find_account(database, name)
    stand_in = _of_nobody()  # made for any name, also where it is not needed: the first answer takes as long for all
    right = check_password_hash(account.password if account else stand_in, password[:MOST_LETTERS])
    return account if account and right and not account.disabled and not _is_too_old(account) else None


def _is_too_old(account: Account) -> bool:
    return account.expires_at is not None and account.expires_at < now()


@cache
def _of_nobody() -> str:
    """Compared when no account has the name, so that the time of an answer does not tell which names there are."""
    return generate_password_hash(secrets.token_urlsafe(16), HASHING)


def change_password(database: Database, account: Account, old: str, new: str) -> None:
    """Set a new password and end every log-in of the account."""
    if not check_password_hash(account.password, old[:MOST_LETTERS]):
        raise InputError("the old password is not right: type it again")
    if new == old:
        raise InputError("the new password is the old one: choose another")
    with database.writing() as session:
        found = session.get_one(Account, account.id)
        _set_password(found, new, one_time=False)
        _end_visits(session, found)
        note(session, "account.password", found.name, found.name)


def _hashed(password: str) -> str:
    if not FEWEST_LETTERS <= len(password) <= MOST_LETTERS:
        raise InputError(
            f"a password of {len(password)} letters is not allowed: use {FEWEST_LETTERS} to {MOST_LETTERS} letters"
        )
    return generate_password_hash(password, HASHING)


def write_one_time(instance: Path, name: str, password: str) -> Path:
    """Keep a one-time password where its owner alone can read it: what a terminal shows may be recorded."""
    path = _one_time_file(instance, name)
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    path.unlink(missing_ok=True)  # an older one: its mode and its links are not to be trusted
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
        file.write(f"{password}\n")
    return path


def forget_one_time(instance: Path, name: str) -> None:
    _one_time_file(instance, name).unlink(missing_ok=True)


def _one_time_file(instance: Path, name: str) -> Path:
    return instance / f"one-time-password-{name}.txt"


def start_visit(database: Database, account: Account) -> str:
    """Log in: a fresh token, which only the browser keeps."""
    token = secrets.token_urlsafe(32)
    with database.writing() as session:
        session.execute(delete(Visit).where(Visit.created_at < now() - VISIT_LASTS))
        session.add(Visit(token=_hash_of(token), account_id=account.id))
    return token


def find_visitor(database: Database, token: str) -> Account | None:
    """Who holds the token, unless the log-in has ended."""
    with database.reading() as session:
        return session.scalar(
            select(Account)
            .join(Visit, Visit.account_id == Account.id)
            .where(Visit.token == _hash_of(token), Visit.created_at >= now() - VISIT_LASTS)
            .where(Account.disabled.is_(False))
        )


def end_visit(database: Database, token: str) -> None:
    with database.writing() as session:
        session.execute(delete(Visit).where(Visit.token == _hash_of(token)))


def _hash_of(token: str) -> str:
    return hashlib.sha256(token.encode()).hexdigest()
