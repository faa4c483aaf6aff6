"""Who is logged in? One guard for the panel and its API, which asks for the role that a route needs."""

from flask import Response, abort, current_app, flash, g, redirect, request, session, url_for
from flask.typing import ResponseReturnValue

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
from shoal.webapp.core.throttle import begin_try, end_try
from shoal.webapp.database import Account
from shoal.webapp.jobs.tokens import offer_groups
from shoal.webapp.jobs.worker import tend

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
