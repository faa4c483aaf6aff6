"""How often may somebody try to log in? Tries are counted in the database, so that all processes know of them."""

import hashlib
from datetime import timedelta

from flask import abort, current_app, request
from sqlalchemy import delete, func, select

from shoal.webapp.accounts import check_password
from shoal.webapp.context import database
from shoal.webapp.database import Account, Attempt
from shoal.webapp.database.models import now

# Tries that failed, from one address; who succeeds is not slowed down.
LIMITS = ((timedelta(minutes=1), 8), (timedelta(hours=1), 60))


def try_to_log_in(name: str, password: str) -> Account | None:
    """The account, if the password is right. A try counts before it is looked at, so that many at once gain nothing."""
    attempt = _begin(_address())
    account = check_password(database(), name, password)
    if account is not None:
        with database().writing() as session:
            session.execute(delete(Attempt).where(Attempt.id == attempt))
    return account


def _begin(address: str) -> int:
    moment = now()
    tries = select(func.count()).select_from(Attempt).where(Attempt.address == address)
    with database().writing() as session:
        session.execute(delete(Attempt).where(Attempt.at < moment - max(span for span, _ in LIMITS)))
        if any((session.scalar(tries.where(Attempt.at >= moment - span)) or 0) >= most for span, most in LIMITS):
            abort(429)
        attempt = Attempt(address=address, at=moment)
        session.add(attempt)
        session.flush()
        return attempt.id


def _address() -> str:
    """What tells one address from another; the address itself is not kept."""
    key = current_app.secret_key
    assert isinstance(key, bytes)
    return hashlib.blake2b((request.remote_addr or "").encode(), key=key, digest_size=32).hexdigest()
