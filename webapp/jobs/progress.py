"""How far is a job? It tells by one short write, a few times a second, and so learns that it was cancelled."""

import time
from datetime import datetime
from typing import Any

from sqlalchemy import update

from shoal.corpus.errors import Cancelled
from shoal.webapp.database import Database, Job
from shoal.webapp.database.models import QUEUED, RUNNING, now

_EVERY = 0.4  # seconds


class JobProgress:
    """A progress callback that writes to the job's row, and raises Cancelled once somebody cancelled it."""

    def __init__(self, database: Database, job_id: int) -> None:
        self._database = database
        self._job_id = job_id
        self._stage = ""
        self._told = 0.0

    def step(self, number: int, title: str) -> None:
        """The next of the job's own steps begins."""
        self._tell(step=number, stage=title, done=0, total=0, stage_at=now())
        self._stage = ""

    def __call__(self, done: int, total: int, stage: str) -> None:
        if time.monotonic() - self._told < _EVERY:
            return
        begins = {} if stage == self._stage else {"stage_at": now()}
        self._stage = stage
        self._tell(stage=stage[:200], done=int(done), total=int(total), **begins)

    def _tell(self, **values: object) -> None:
        self._told = time.monotonic()
        mine = update(Job).where(Job.id == self._job_id).values(seen_at=now(), **values).returning(Job.cancel)
        with self._database.writing() as session:
            cancelled = session.execute(mine).scalar_one()
        if cancelled:
            raise Cancelled


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
    if job.state not in (RUNNING, QUEUED):
        return 1.0
    return min(1.0, (max(job.step - 1, 0) + min(share, 1.0)) / max(job.steps, 1))
