"""/admin/runs: what does a list show of a run, how is it sorted and filtered, watched, stopped and restarted?"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from flask import flash, jsonify, redirect, render_template, request, url_for
from flask.typing import ResponseReturnValue
from sqlalchemy import select

from shoal.anonymizer.registry import methods
from shoal.corpus.errors import Conflict, InputError, NotFound
from shoal.evaluation.measures.base import Column
from shoal.evaluation.measures.registry import columns
from shoal.webapp.core.context import database, releases, settings
from shoal.webapp.core.login import account
from shoal.webapp.core.withdrawal import OUT_OF_REACH, delete_run
from shoal.webapp.database import Database, Job, LogFile, Release
from shoal.webapp.database.models import EVALUATION, INDEXING, LEVELS, PREVIEW, READING, RUN, SERVING, STATES
from shoal.webapp.jobs.queue import cancel_job, get_job, start_again
from shoal.webapp.jobs.run import release_title
from shoal.webapp.jobs.tasks import add_run
from shoal.webapp.operator import panel, shown_status
from shoal.webapp.operator.releases import ReleaseView, downloadable, view_of

OWN = ("number", "method", "state", "users")  # what rows are sorted by besides measures


def shown_measures() -> dict[str, Column]:
    """What may be shown of a run, by the names of columns."""
    return {name: column for name, column in columns().items() if not column.end and not column.clicks}


@dataclass(frozen=True, eq=False)
class RunRow:
    job: Job
    release: Release | None
    log: str

    @property
    def number(self) -> int:
        return self.job.id

    @property
    def method(self) -> str:
        return str(self.job.task["method"])

    @property
    def params(self) -> dict[str, Any]:
        return dict(self.job.task["params"])

    @property
    def is_preview(self) -> bool:
        return self.job.kind == PREVIEW

    @cached_property
    def title(self) -> str:
        """The method may have been of a package that is gone."""
        return release_title(self.method, self.params) if self.method in methods() else self.method

    @property
    def measured(self) -> dict[str, float]:
        return dict(self.job.result.get("measured", {}))

    @property
    def users(self) -> int:
        return int(self.job.result.get("users", 0))

    def value(self, name: str) -> Any:
        """What this row is sorted by; None where it has no such value."""
        own = {"number": self.number, "method": self.title.lower(), "state": self.job.state, "users": self.users}
        return own[name] if name in own else self.measured.get(name)


@dataclass(frozen=True)
class Wanted:
    """Which rows, and in which order; all of it stands in the address."""

    method: str = ""
    state: str = ""
    kind: str = ""
    sort: str = "number"
    down: bool = True


def read_wanted(arguments: Mapping[str, str]) -> Wanted:
    choices = {"method": tuple(methods()), "state": STATES, "kind": (RUN, PREVIEW), "sort": (*OWN, *shown_measures())}
    given = {name: arguments.get(name, "") for name in choices}
    for name, value in given.items():
        if value and value not in choices[name]:
            raise InputError(f"{name}={value[:40]} is not allowed: choose one of {', '.join(choices[name])}")
    sort = given.pop("sort") or "number"
    return Wanted(**given, sort=sort, down=arguments.get("down", "1" if sort == "number" else "") == "1")


def run_rows(database: Database, wanted: Wanted | None = None) -> list[RunRow]:
    """All runs and previews that fit, sorted; those without a value stand last either way."""
    wanted = wanted or Wanted()
    fitting = _all_rows().where(Job.state == wanted.state) if wanted.state else _all_rows()
    with database.reading() as session:
        found = session.execute(fitting.where(Job.kind == wanted.kind) if wanted.kind else fitting).all()
        logs = {row.id: row.name for row in session.execute(select(LogFile.id, LogFile.name))}
    rows = [RunRow(job, release, logs.get(job.task["log"], "")) for job, release in found]
    rows = [row for row in rows if not wanted.method or row.method == wanted.method]
    valued = sorted(
        (row for row in rows if row.value(wanted.sort) is not None),
        key=lambda row: row.value(wanted.sort), reverse=wanted.down,
    )  # fmt: skip
    return valued + [row for row in rows if row.value(wanted.sort) is None]


def _all_rows() -> Any:
    joined = select(Job, Release).outerjoin(Release, Release.job_id == Job.id)
    return joined.where(Job.kind.in_((RUN, PREVIEW))).order_by(Job.id.desc())


def get_row(database: Database, number: int) -> RunRow:
    with database.reading() as session:
        found = session.execute(_all_rows().where(Job.id == number)).first() if 0 < number < 2**31 else None
        if found is None:
            raise NotFound("no such run: choose one from the list of runs")
        log = session.get(LogFile, found[0].task["log"])
    return RunRow(found[0], found[1], log.name if log else "")


@panel.get("/runs")
def runs() -> str:
    wanted = read_wanted(request.args)
    return render_template(
        "operator/runs.html",
        rows=run_rows(database(), wanted),
        wanted=wanted,
        measures=shown_measures(),
        states=STATES,
        methods=[method.info for method in methods().values()],
        chosen=set(request.args.getlist("run")),
    )


@panel.get("/runs/<int:number>")
def run(number: int) -> str:
    row = get_row(database(), number)
    info = methods()[row.method].info if row.method in methods() else None
    return render_template(
        "operator/run.html", row=row, info=info, measures=shown_measures(), status=shown_status(row.job),
        view=_view(row), files=downloadable(settings().instance, row.release) if row.release else [],
        out_of_reach=OUT_OF_REACH,
    )  # fmt: skip


def _view(row: RunRow) -> ReleaseView | None:
    return view_of(row.release.id) if row.release is not None else None


@panel.get("/runs/<int:number>/status")
def run_status(number: int) -> ResponseReturnValue:
    """What the page asks for while it waits."""
    return jsonify(shown_status(get_job(database(), number)))


@panel.post("/runs/<int:number>/cancel")
def cancel(number: int) -> ResponseReturnValue:
    cancel_job(database(), number)
    return redirect(_page_of(get_job(database(), number)))


@panel.post("/runs/<int:number>/again")
def again(number: int) -> ResponseReturnValue:
    start_again(database(), number)
    return redirect(_page_of(get_job(database(), number)))


@panel.post("/runs/<int:number>/delete")
def delete(number: int) -> ResponseReturnValue:
    delete_run(releases(), number, account().name)
    flash(f"Run {number} is deleted, and all that it made. {OUT_OF_REACH}")
    return redirect(url_for("operator.runs"))


@panel.post("/runs/<int:number>/whole")
def run_whole(number: int) -> ResponseReturnValue:
    """The run that a preview was for."""
    job = get_job(database(), number)
    if job.kind != PREVIEW:
        raise Conflict(f"run {number} is no preview: start a new run from the page of its method")
    task = job.task
    made = add_run(database(), task["method"], task["params"], task["log"], seed=task["seed"], account=account().name)
    flash("The run has begun.")
    return redirect(url_for("operator.run", number=made))


def _page_of(job: Job) -> str:
    if job.kind == LEVELS:
        return url_for("operator.overview")
    data = dict.fromkeys((READING, INDEXING, SERVING), "operator.data_job")
    pages = {**data, EVALUATION: "operator.evaluation"}
    return url_for(pages.get(job.kind, "operator.run"), number=job.id)
