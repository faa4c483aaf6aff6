"""Who gets into the panel? Nobody without a log-in: every route is closed unless it is named here as open."""

from urllib.parse import urlsplit

from apiflask import APIBlueprint
from flask import abort, flash, g, redirect, request, session, url_for
from flask.typing import ResponseReturnValue
from flask_wtf.csrf import CSRFProtect

from shoal.webapp.accounts import end_visit, start_visit
from shoal.webapp.context import VISIT, database, releases, visitor
from shoal.webapp.database import Account

panel = APIBlueprint("admin", __name__, url_prefix="/admin", enable_openapi=False)
csrf = CSRFProtect()

_OPEN = {"admin.login"}
_WITH_ONE_TIME_PASSWORD = {"admin.password", "admin.logout"}


def operator() -> str:
    """The name of who is logged in, for the records."""
    account: Account = g.account
    return account.name


def enter(account: Account) -> None:
    """A fresh session at every log-in: nothing that was in the old one is taken along."""
    leave()
    session[VISIT] = start_visit(database(), account)


def leave() -> None:
    token = session.get(VISIT)
    if isinstance(token, str):
        end_visit(database(), token)
    session.clear()


@panel.before_request
def guard() -> ResponseReturnValue | None:
    if request.endpoint in _OPEN:
        return None
    account = visitor()
    if account is None:
        return redirect(url_for("admin.login", next=request.full_path.rstrip("?"))) if _is_reading() else abort(401)
    g.account = account
    if account.must_change and request.endpoint not in _WITH_ONE_TIME_PASSWORD:
        flash("This password was for one time only: choose your own now.")
        return redirect(url_for("admin.password")) if _is_reading() else abort(403)
    return None


def _is_reading() -> bool:
    return request.method in ("GET", "HEAD")


@panel.context_processor
def shown_everywhere() -> dict[str, object]:
    account = g.get("account")
    return {"account": account, "active_id": releases().current_id() if account else None}


@panel.app_template_filter("duration")
def duration(seconds: float) -> str:
    return f"{max(1, round(seconds))} s" if seconds < 90 else f"{round(seconds / 60)} min"


def safe_next(address: str) -> str:
    """Where to go after the log-in: a page of the panel, never another site."""
    parts = urlsplit(address)
    inside = parts.path.startswith("/admin/") and not parts.scheme and not parts.netloc and "\\" not in address
    return address if inside else url_for("admin.overview")
