"""Who may operate the server? Accounts, passwords, and log-ins that can be ended."""

import hashlib
import re
import secrets
from datetime import timedelta
from functools import cache

from sqlalchemy import delete, func, select
from sqlalchemy.exc import IntegrityError
from werkzeug.security import check_password_hash, generate_password_hash

from shoal.corpus.errors import Conflict, InputError
from shoal.webapp.database import Account, Database, Visit
from shoal.webapp.database.models import now

FEWEST_LETTERS = 12
MOST_LETTERS = 200
VISIT_LASTS = timedelta(hours=12)
_NAME = re.compile(r"[A-Za-z0-9._-]{1,64}")


def create_account(database: Database, name: str, password: str = "") -> str:
    """A new account. Without a password one is made, which must be changed at the first log-in. Returns it."""
    if not _NAME.fullmatch(name):
        raise InputError(f"{name[:70]!r} is no account name: use up to 64 letters, digits, dots, dashes or underscores")
    one_time = not password
    password = password or secrets.token_urlsafe(12)
    hashed = _hashed(password)
    try:
        with database.writing() as session:
            session.add(Account(name=name, password=hashed, must_change=one_time))
    except IntegrityError as error:
        raise Conflict(f"there is an account {name!r} already: choose another name") from error
    return password


def create_first_account(database: Database, name: str = "admin") -> str | None:
    """An account with a one-time password, if there is none at all."""
    with database.reading() as session:
        if session.scalar(select(func.count()).select_from(Account)):
            return None
    return create_account(database, name)


def check_password(database: Database, name: str, password: str) -> Account | None:
    with database.reading() as session:
        account = session.scalar(select(Account).where(Account.name == name[:64]))
    stand_in = _of_nobody()  # made for any name, also where it is not needed: the first answer takes as long for all
    right = check_password_hash(account.password if account else stand_in, password[:MOST_LETTERS])
    return account if account and right else None


@cache
def _of_nobody() -> str:
    """Compared when no account has the name, so that the time of an answer does not tell which names there are."""
    return generate_password_hash(secrets.token_urlsafe(16))


def change_password(database: Database, account: Account, old: str, new: str) -> None:
    """Set a new password and end every log-in of the account."""
    if not check_password_hash(account.password, old[:MOST_LETTERS]):
        raise InputError("the old password is not right: type it again")
    if new == old:
        raise InputError("the new password is the old one: choose another")
    hashed = _hashed(new)
    with database.writing() as session:
        found = session.get_one(Account, account.id)
        found.password, found.must_change = hashed, False
        session.execute(delete(Visit).where(Visit.account_id == account.id))


def _hashed(password: str) -> str:
    if not FEWEST_LETTERS <= len(password) <= MOST_LETTERS:
        raise InputError(
            f"a password of {len(password)} letters is not allowed: use {FEWEST_LETTERS} to {MOST_LETTERS} letters"
        )
    return generate_password_hash(password)


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
        )


def end_visit(database: Database, token: str) -> None:
    with database.writing() as session:
        session.execute(delete(Visit).where(Visit.token == _hash_of(token)))


def _hash_of(token: str) -> str:
    return hashlib.sha256(token.encode()).hexdigest()
