"""How does a job tell how far it is, and learn that it was cancelled? By one short write, a few times a second."""

import time

from sqlalchemy import update

from shoal.corpus.errors import Cancelled
from shoal.webapp.database import Database, Job
from shoal.webapp.database.models import now

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
