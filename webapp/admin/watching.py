"""How does an operator watch, compare, stop and restart runs?"""

from typing import Any

from flask import flash, jsonify, redirect, render_template, request, url_for
from flask.typing import ResponseReturnValue

from shoal.anonymizer.registry import methods
from shoal.corpus.errors import InputError
from shoal.webapp.activation import concerns, history, previous
from shoal.webapp.admin.choosing import whole_number
from shoal.webapp.admin.panel import operator, panel
from shoal.webapp.admin.picture import precision_risk_svg
from shoal.webapp.admin.rows import (
    RunRow,
    compared_measures,
    compared_params,
    get_row,
    job_status,
    read_wanted,
    run_rows,
    shown_measures,
)
from shoal.webapp.context import database, releases, settings
from shoal.webapp.database import Job
from shoal.webapp.database.models import DONE, PREVIEW, QUEUED, RUNNING, STATES
from shoal.webapp.jobs.queue import cancel_job, get_job, start_again
from shoal.webapp.jobs.runner import tend
from shoal.webapp.jobs.tasks import add_run

MOST_COMPARED = 12


@panel.get("/")
def overview() -> str:
    tend(database(), settings())
    rows = run_rows(database())
    switches = history(database(), releases().log_digest)
    active = next((row for row in rows if row.release and switches and row.release.id == switches[0].release_id), None)
    return render_template(
        "admin/overview.html", active=active, switches=switches[:5], back=previous(switches),
        busy=[(row, job_status(row.job)) for row in rows if row.job.state in (QUEUED, RUNNING)],
        picture=_picture(rows), measures=shown_measures(),
        can_activate=[one.release_id for one in releases().listed() if one.verdict.holds],
    )  # fmt: skip


def _picture(rows: list[RunRow]) -> Any:
    """The plot of what is published of the served log."""
    served = [row for row in rows if row.release and row.job.task["log"] == _served_log(rows)]
    return precision_risk_svg(served, releases().current_id())


def _served_log(rows: list[RunRow]) -> int:
    active = releases().current_id()
    return next((row.job.task["log"] for row in rows if row.release and row.release.id == active), 0)


@panel.get("/runs")
def runs() -> str:
    tend(database(), settings())
    wanted = read_wanted(request.args)
    return render_template(
        "admin/runs.html", rows=run_rows(database(), wanted), wanted=wanted, measures=shown_measures(), states=STATES,
        methods=[method.info for method in methods().values()],
    )  # fmt: skip


@panel.get("/runs/<int:number>")
def run(number: int) -> str:
    tend(database(), settings())
    row = get_row(database(), number)
    info = methods()[row.method].info if row.method in methods() else None
    return render_template(
        "admin/run.html", row=row, info=info, measures=shown_measures(), status=job_status(row.job),
        concerns=concerns(row.release, info.does_not_protect if info else "") if row.release else [],
        files=public_files(row), can_activate=_can_activate(row),
    )  # fmt: skip


def _can_activate(row: RunRow) -> bool:
    return (
        row.release is not None and row.release.holds and row.release.id in {r.release_id for r in releases().listed()}
    )


def public_files(row: RunRow) -> list[str]:
    from shoal.webapp.admin.downloads import downloadable

    return downloadable(settings().instance, row.release.id) if row.release else []


@panel.get("/runs/<int:number>/status")
def run_status(number: int) -> ResponseReturnValue:
    """What the page asks for while it waits."""
    tend(database(), settings())
    return jsonify(job_status(get_job(database(), number)))


@panel.post("/runs/<int:number>/cancel")
def cancel(number: int) -> ResponseReturnValue:
    cancel_job(database(), number)
    tend(database(), settings())
    return redirect(_page_of(get_job(database(), number)))


@panel.post("/runs/<int:number>/again")
def again(number: int) -> ResponseReturnValue:
    start_again(database(), number)
    tend(database(), settings())
    return redirect(_page_of(get_job(database(), number)))


@panel.post("/runs/<int:number>/whole")
def run_whole(number: int) -> ResponseReturnValue:
    """The run that a preview was for."""
    job = get_job(database(), number)
    if job.kind != PREVIEW:
        raise InputError(f"run {number} is no preview: start a new run from the page of its method")
    task = job.task
    made = add_run(database(), task["method"], task["params"], task["log"], seed=task["seed"], account=operator())
    tend(database(), settings())
    flash("The run has begun.")
    return redirect(url_for("admin.run", number=made))


def _page_of(job: Job) -> str:
    return url_for("admin.run", number=job.id) if "method" in job.task else url_for("admin.upload_page", number=job.id)


@panel.get("/compare")
def compare() -> ResponseReturnValue:
    numbers = list(dict.fromkeys(whole_number(text, "run") for text in request.args.getlist("run")))
    if len(numbers) > MOST_COMPARED:
        raise InputError(f"{len(numbers)} runs are too many for one table: choose up to {MOST_COMPARED}")
    rows = [get_row(database(), number) for number in numbers]
    rows = [row for row in rows if row.job.state == DONE]
    if len(rows) < 2:
        flash("Choose two finished runs or more, then compare them.")
        return redirect(url_for("admin.runs"))
    return render_template(
        "admin/compare.html", rows=rows, params=compared_params(rows), measured=compared_measures(rows)
    )
