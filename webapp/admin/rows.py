"""What do lists show of a run? Its job, what it published, and how the two are sorted, filtered and compared."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from typing import Any

from sqlalchemy import select

from shoal.anonymizer.registry import methods
from shoal.corpus.errors import InputError
from shoal.evaluation.measures.base import Column
from shoal.evaluation.measures.registry import columns
from shoal.webapp.database import Database, Job, LogFile, Release
from shoal.webapp.database.models import PREVIEW, RUN, RUNNING, STATES, now
from shoal.webapp.jobs.making import release_title

_BETTER = {"higher": 1, "lower": -1, "neither": 0}
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
            raise InputError("no such run: choose one from the list of runs")
        log = session.get(LogFile, found[0].task["log"])
    return RunRow(found[0], found[1], log.name if log else "")


@dataclass(frozen=True)
class ComparedLine:
    """One parameter or measure of several runs; `best` marks the better ones."""

    key: str
    name: str
    help: str
    values: list[Any]
    differs: bool
    best: list[bool]


def compared_params(rows: Sequence[RunRow]) -> list[ComparedLine]:
    names = dict.fromkeys(name for row in rows for name in row.params)
    lines = []
    for name in names:
        values = [row.params.get(name) for row in rows]
        lines.append(ComparedLine(name, name, "", values, len(set(map(str, values))) > 1, [False] * len(rows)))
    return lines


def compared_measures(rows: Sequence[RunRow]) -> list[ComparedLine]:
    lines = []
    for key, column in shown_measures().items():
        values = [row.measured.get(key) for row in rows]
        known = [value for value in values if value is not None]
        if not known:
            continue
        differs, better = len(set(known)) > 1, _BETTER[column.measure.better]
        top = (max(known) if better > 0 else min(known)) if better and differs else None
        best = [value is not None and value == top for value in values]
        lines.append(ComparedLine(key, column.title, column.says, values, differs, best))
    return lines


def remaining_seconds(job: Job, moment: datetime | None = None) -> float | None:
    """How long the current stage will still take if it goes on as it went; None where nothing can be said."""
    if job.state != RUNNING or job.stage_at is None or not 0 < job.done <= job.total:
        return None
    passed = ((moment or now()) - job.stage_at).total_seconds()
    return max(0.0, passed * (job.total - job.done) / job.done) if passed >= 0.5 else None


def job_status(job: Job) -> dict[str, Any]:
    """How far a job is, for the page and for programs."""
    share = job.done / job.total if job.total else 0.0
    remaining = remaining_seconds(job)
    return {
        "id": job.id, "kind": job.kind, "state": job.state, "step": job.step, "steps": job.steps, "stage": job.stage,
        "done": job.done, "total": job.total, "share": round(overall_share(job, share), 4),
        "remaining_seconds": None if remaining is None else round(remaining, 1), "error": job.error,
    }  # fmt: skip


def overall_share(job: Job, share: float) -> float:
    """Steps that are over count whole, the current one by its share."""
    if job.state not in (RUNNING, "queued"):
        return 1.0
    return min(1.0, (max(job.step - 1, 0) + min(share, 1.0)) / max(job.steps, 1))
