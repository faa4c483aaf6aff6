"""Who is logged in, and who may try? One guard for the panel and its API; tries are counted for all processes."""

import hashlib
from datetime import timedelta

from flask import Response, abort, current_app, flash, g, redirect, request, session, url_for
from flask.typing import ResponseReturnValue
from sqlalchemy import delete, func, select

from shoal.corpus.errors import InputError
from shoal.webapp.core.accounts import check_password, end_visit, find_visitor, start_visit
from shoal.webapp.core.context import database, settings
from shoal.webapp.database import Account, Attempt
from shoal.webapp.database.models import now
from shoal.webapp.jobs.worker import tend

_VISIT = "visit"  # what a session remembers of a log-in
# Every other route of the panel and of its API is closed.
_OPEN = {"operator.login", "api_operator.log_in"}
_WITH_ONE_TIME_PASSWORD = {
    "operator.password", "operator.logout", "api_operator.set_password", "api_operator.log_out", "api_operator.session",
}  # fmt: skip
# Tries that failed, from one address; who succeeds is not slowed down.
LIMITS = ((timedelta(minutes=1), 8), (timedelta(hours=1), 60))


def visitor() -> Account | None:
    """Who is logged in, if anybody; looked up once per request."""
    if "visitor" not in g:
        token = session.get(_VISIT)
        g.visitor = find_visitor(database(), token) if isinstance(token, str) else None
    found: Account | None = g.visitor
    return found


def is_operator() -> bool:
    account = visitor()
    return account is not None and not account.must_change


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
    if request.endpoint in _OPEN:
        return None
    if visitor() is None:
        return _lead(401, url_for("operator.login", next=request.full_path.rstrip("?")))
    if not is_operator() and request.endpoint not in _WITH_ONE_TIME_PASSWORD:
        if _is_page():
            flash("This password was for one time only: choose your own now.")
        return _lead(403, url_for("operator.password"))
    if _is_reading():
        tend(database(), settings())
    return None


def tend_after_change(response: Response) -> Response:
    """What a change added begins at once. The change itself is done, so that trouble here is only noted."""
    if not _is_reading() and is_operator():
        try:
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
    """The account, if the password is right. A try counts before it is looked at, so that many at once gain nothing."""
    attempt = _begin(_address())
    account = check_password(database(), name, password)
    if account is not None:
        with database().writing() as opened:
            opened.execute(delete(Attempt).where(Attempt.id == attempt))
    return account


def _begin(address: str) -> int:
    moment = now()
    tries = select(func.count()).select_from(Attempt).where(Attempt.address == address)
    with database().writing() as opened:
        opened.execute(delete(Attempt).where(Attempt.at < moment - max(span for span, _ in LIMITS)))
        if any((opened.scalar(tries.where(Attempt.at >= moment - span)) or 0) >= most for span, most in LIMITS):
            abort(429)
        attempt = Attempt(address=address, at=moment)
        opened.add(attempt)
        opened.flush()
        return attempt.id


def _address() -> str:
    """What tells one address from another; the address itself is not kept."""
    key = current_app.secret_key
    assert isinstance(key, bytes)
    return hashlib.blake2b((request.remote_addr or "").encode(), key=key, digest_size=32).hexdigest()
