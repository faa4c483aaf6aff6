"""Who is logged in? One guard for the panel and its API, which asks for the role that a route needs.

How often may somebody try to log in? Tries that fail are counted by address and by account, for all processes.

An account that strangers guess at is closed to strangers only: an address from which somebody logged in to it lately,
and the machine itself, have tries of their own, so that nobody can lock an operator out from elsewhere.
"""

import hashlib
import ipaddress
from datetime import timedelta

from flask import Response, abort, current_app, flash, g, redirect, request, session, url_for
from flask.typing import ResponseReturnValue
from sqlalchemy import ColumnElement, delete, func, select
from sqlalchemy.orm import Session

from shoal.corpus.errors import InputError, Refused
from shoal.webapp.core.accounts import (
    change_password,
    check_password,
    end_visit,
    find_account,
    find_visitor,
    forget_one_time,
    start_visit,
)
from shoal.webapp.core.audit import record
from shoal.webapp.core.context import database, releases, settings
from shoal.webapp.core.roles import DOWNLOADS, OPEN, OPERATOR, OWN, is_at_least, least_role
from shoal.webapp.core.settings import is_local
from shoal.webapp.database import Account, Attempt
from shoal.webapp.database.models import now
from shoal.webapp.jobs.tokens import offer_groups
from shoal.webapp.jobs.worker import tend

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


_VISIT = "visit"  # what a session remembers of a log-in


def visitor() -> Account | None:
    """Who is logged in, if anybody; looked up once per request."""
    if "visitor" not in g:
        token = session.get(_VISIT)
        g.visitor = find_visitor(database(), token) if isinstance(token, str) else None
    found: Account | None = g.visitor
    return found


def is_operator() -> bool:
    """Whether somebody is logged in who may see what was never active."""
    return has_role(OPERATOR)


def has_role(role: str) -> bool:
    """Whether somebody with that role, or a higher one, is logged in by a password of their own."""
    account = visitor()
    return account is not None and not account.must_change and is_at_least(account.role, role)


def account() -> Account:
    """Who came past the guard."""
    found = visitor()
    assert found is not None, "the guard lets nobody in who is not logged in"
    return found


def enter(account: Account) -> None:
    """A fresh session at every log-in: nothing that was in the old one is taken along."""
    leave()
    session[_VISIT] = start_visit(database(), account)
    g.visitor = account


def leave() -> None:
    token = session.get(_VISIT)
    if isinstance(token, str):
        end_visit(database(), token)
    session.clear()
    g.pop("visitor", None)


def guard() -> ResponseReturnValue | None:
    """Before every request to the panel or its API: who may not enter is led to the log-in, or refused."""
    if request.endpoint in OPEN:
        return None
    account = visitor()
    if account is None:
        return _lead(401, url_for("operator.login", next=request.full_path.rstrip("?")))
    if account.must_change and request.endpoint not in OWN:
        if _is_page():
            flash("This password was for one time only: choose your own now.")
        return _lead(403, url_for("operator.password"))
    wanted = least_role(request.endpoint, reading=_is_reading())
    if request.endpoint not in OWN and not is_at_least(account.role, wanted):
        raise Refused(f"this is for an {wanted}, and you are a {account.role}: ask an administrator")
    if _is_reading():
        tend(database(), settings())
    return None


def note_download(response: Response) -> Response:
    """Who took which file away is written down; what was taken cannot be called back."""
    name = (request.endpoint or "").rpartition(".")[2]
    if name in DOWNLOADS and response.status_code == 200 and request.method == "GET":
        what = "/".join(str(value) for value in (request.view_args or {}).values())
        record(database(), f"download.{DOWNLOADS[name]}", account().name, what)
    return response


def tend_after_change(response: Response) -> Response:
    """What a change added begins at once. The change itself is done, so that trouble here is only noted."""
    if not _is_reading() and has_role(OPERATOR):
        try:
            offer_groups(database(), releases().log_digest, releases().current_id())
            tend(database(), settings())
        except InputError as error:
            current_app.logger.warning("the jobs are looked after with the next request: %s", error)
    return response


def _lead(code: int, address: str) -> ResponseReturnValue:
    return redirect(address) if _is_page() else abort(code)


def _is_page() -> bool:
    return _is_reading() and request.blueprint == "operator"


def _is_reading() -> bool:
    return request.method in ("GET", "HEAD")


def try_to_log_in(name: str, password: str) -> Account | None:
    """The account, if the password is right. The audit names no name that is none: it may be a password, misplaced."""
    attempt = begin_try(name)
    account = check_password(database(), name, password)
    if account is None:
        known = find_account(database(), name)
        record(database(), "login.failed", known.name if known else "")
        return None
    end_try(attempt)
    record(database(), "login", account.name)
    return account


def set_own_password(old: str, new: str) -> None:
    """Change the password of who is logged in; the file that held a one-time password goes."""
    change_password(database(), account(), old, new)
    forget_one_time(settings().instance, account().name)
