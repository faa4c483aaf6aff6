"""How often may somebody try to log in? Tries that fail are counted by address and by account, for all processes.

An account that strangers guess at is closed to strangers only: an address from which somebody logged in to it lately,
and the machine itself, have tries of their own, so that nobody can lock an operator out from elsewhere.
"""

import hashlib
import ipaddress
from datetime import timedelta

from flask import abort, current_app, request
from sqlalchemy import ColumnElement, delete, func, select
from sqlalchemy.orm import Session

from shoal.webapp.core.context import database
from shoal.webapp.core.settings import is_local
from shoal.webapp.database import Attempt
from shoal.webapp.database.models import now

# Tries that failed, from one address; who succeeds is not slowed down.
LIMITS = ((timedelta(minutes=1), 8), (timedelta(hours=1), 60))
# Tries that failed at one account, from all addresses that it does not know.
OF_ACCOUNT = ((timedelta(minutes=1), 20), (timedelta(hours=1), 100))
_KNOWN = timedelta(days=30)  # so long is an address known to an account after a log-in


def begin_try(name: str) -> int:
    """Count a try before it is looked at, so that many at once gain nothing. Its number, or the end of the request."""
    address, account, moment = _address(), _hashed(f"account {name[:64]}"), now()
    failed = Attempt.succeeded.is_(False)
    with database().writing() as opened:
        opened.execute(delete(Attempt).where(failed, Attempt.at < moment - max(span for span, _ in LIMITS)))
        opened.execute(delete(Attempt).where(Attempt.at < moment - _KNOWN))
        known = select(Attempt.address).where(Attempt.account == account, Attempt.succeeded)
        stranger = address not in opened.scalars(known).all() and not is_local(request.remote_addr or "")
        elsewhere = failed & (Attempt.account == account) & Attempt.address.not_in(known)
        if _too_many(opened, failed & (Attempt.address == address), LIMITS) or (
            stranger and _too_many(opened, elsewhere, OF_ACCOUNT)
        ):
            abort(429)
        attempt = Attempt(address=address, account=account, at=moment)
        opened.add(attempt)
        opened.flush()
        return attempt.id


def _too_many(opened: Session, which: ColumnElement[bool], limits: tuple[tuple[timedelta, int], ...]) -> bool:
    tries = select(func.count()).select_from(Attempt).where(which)
    return any((opened.scalar(tries.where(Attempt.at >= now() - span)) or 0) >= most for span, most in limits)


def end_try(attempt: int) -> None:
    """The try went well: it counts no longer, and the account knows the address."""
    with database().writing() as opened:
        kept = opened.get(Attempt, attempt)
        if kept is not None:
            same = (Attempt.account == kept.account) & (Attempt.address == kept.address)
            opened.execute(delete(Attempt).where(same, Attempt.succeeded))
            kept.succeeded = True


def _address() -> str:
    """What tells one address from another; the address itself is not kept. A network of IPv6 is one: it has 2^64."""
    given = request.remote_addr or ""
    try:
        address = ipaddress.ip_address(given)
    except ValueError:
        return _hashed(given)
    return _hashed(given if address.version == 4 else str(ipaddress.ip_network((address, 64), strict=False)))


def _hashed(text: str) -> str:
    key = current_app.secret_key
    assert isinstance(key, bytes)
    return hashlib.blake2b(text.encode(), key=key, digest_size=32).hexdigest()
