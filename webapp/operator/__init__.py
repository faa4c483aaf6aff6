"""What does an operator see? The panel at /admin, a module for each address; here the guard and what they share."""

from typing import Any

from apiflask import APIBlueprint
from flask import g

from shoal.corpus.errors import InputError
from shoal.webapp.core import context
from shoal.webapp.core.login import guard, has_role, note_download, tend_after_change, visitor
from shoal.webapp.core.logs import find_log
from shoal.webapp.core.releases import without_names
from shoal.webapp.core.roles import ADMINISTRATOR, OPERATOR
from shoal.webapp.database import Job
from shoal.webapp.jobs.progress import job_status

REDACTED = "It failed. Why may hold what stands in the log, so that an operator is told and you are not: ask one."
panel = APIBlueprint("operator", __name__, url_prefix="/admin", enable_openapi=False)
panel.before_request(guard)
panel.after_request(tend_after_change)
panel.after_request(note_download)


def active_id() -> str | None:
    """The release that serves the searchers, looked up once per request."""
    if "active_id" not in g:
        g.active_id = context.releases().current_id()
    found: str | None = g.active_id
    return found


@panel.context_processor
def shown_everywhere() -> dict[str, object]:
    account = visitor()
    may = {"administers": has_role(ADMINISTRATOR), "operates": has_role(OPERATOR)}
    return {"account": account, **may, "active_id": active_id() if account else None}


panel.add_app_template_filter(without_names)


@panel.app_template_filter("duration")
def duration(seconds: float) -> str:
    return f"{max(1, round(seconds))} s" if seconds < 90 else f"{round(seconds / 60)} min"


def shown_status(job: Job) -> dict[str, Any]:
    """How far a job is, without what a viewer is not shown: the text of an error may quote the log."""
    status = job_status(job)
    if not status["error"] or has_role(OPERATOR):
        return status
    return {**status, "error": REDACTED}


def served_log() -> int:
    """The number of the log that is served."""
    found = find_log(context.database(), context.service().digest)
    assert found is not None, "the log that is served is entered at the start"
    return found


def whole_number(text: str, name: str) -> int:
    if not text.isascii() or not text.isdigit() or len(text) > 10:
        raise InputError(f"{name}={text[:20]} is not allowed: give a whole number")
    return int(text)
