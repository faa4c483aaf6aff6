"""How does a job get from one state to the next? Every step is one transaction, so a killed process loses none."""

import os
import signal
import socket
import traceback
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

from sqlalchemy import ColumnElement, Select, func, or_, select, update

from shoal.corpus.errors import Cancelled, Conflict, InputError, NotFound
from shoal.webapp.database import Database, Job
from shoal.webapp.database.models import CANCELLED, EVALUATION, FAILED, INTERRUPTED, LEVELS, QUEUED, RUNNING, now

_PROC = Path("/proc")


def host() -> str:
    return socket.gethostname()[:200]


def birth(pid: int) -> str:
    """What tells a process from every other with its number; empty where there is none."""
    try:
        text = (_PROC / str(pid) / "stat").read_text()
        boot = (_PROC / "sys/kernel/random/boot_id").read_text().strip()
    except OSError:
        return "" if _PROC.is_dir() or not _answers(pid) else "alive"
    fields = text.rpartition(")")[2].split()  # the name in brackets may hold blanks
    ended = fields[0] in ("Z", "X")
    return "" if ended else f"{boot}:{fields[19]}"


def is_alive(pid: int, born: str) -> bool:
    return bool(born) and birth(pid) == born


def stop(pid: int, born: str) -> None:
    """End a process at once, if it is still the one that was born then; never this one, which tends other jobs too."""
    if pid != os.getpid() and is_alive(pid, born):
        os.kill(pid, signal.SIGKILL)


def _answers(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except OSError:
        return False
    return True


AT_ONCE = max(1, (os.cpu_count() or 2) // 2)  # jobs that run side by side; the others wait
_GRACE = timedelta(seconds=8)  # a cancelled job that does not look up for so long is stopped
_SILENCE = timedelta(minutes=30)  # a job of another machine that says nothing for so long is given up
_STARTING = timedelta(seconds=30)  # a process that has not claimed its job after so long is not coming
_AGAIN = (FAILED, CANCELLED, INTERRUPTED)


def add_job(database: Database, kind: str, task: dict[str, Any], steps: int, account: str = "") -> int:
    with database.writing() as session:
        job = Job(kind=kind, task=task, steps=steps, account=account)
        session.add(job)
        session.flush()
        return job.id


def get_job(database: Database, job_id: int) -> Job:
    job = database.find(Job, job_id)
    if job is None:
        raise NotFound("no such run: choose one from the list of runs")
    return job


def yields() -> ColumnElement[bool]:
    """What the server does by itself, and nobody waits for: all levels, and the evaluation after them."""
    return Job.kind.in_((LEVELS, EVALUATION)) & (Job.account == "")


def _at_work() -> Select[int]:
    """How many jobs are running, but for those of processes that yield to every other."""
    yielding = select(Job.pid).where(Job.state == RUNNING, yields())
    return select(func.count()).select_from(Job).where(Job.state == RUNNING, Job.pid.not_in(yielding))


def claim_job(database: Database, job_id: int, even_if_busy: bool = False) -> Job | None:
    """Take a waiting job for this process; None if it is not waiting, or enough are running already."""
    with database.writing() as session:
        running = session.scalar(_at_work()) or 0
        job = session.scalar(select(Job).where(Job.id == job_id, Job.state == QUEUED).with_for_update())
        if job is None:
            return None
        if running >= AT_ONCE and not even_if_busy:
            job.seen_at = None  # to be started by who ends next
            return None
        moment, pid = now(), os.getpid()
        job.state, job.host, job.pid, job.birth, job.attempts = RUNNING, host(), pid, birth(pid), job.attempts + 1
        job.started_at = job.stage_at = job.seen_at = moment
        job.step, job.stage, job.done, job.total, job.error = 0, "", 0, 0, ""
        return job


def finish_job(
    database: Database, job_id: int, state: str, error: str = "", result: dict[str, Any] | None = None
) -> None:
    with database.writing() as session:
        job = session.get_one(Job, job_id)
        job.state, job.error, job.finished_at, job.pid, job.birth = state, error, now(), 0, ""
        if result is not None:
            job.result = result


def attempt(database: Database, job_id: int, do: Callable[[], object]) -> None:
    """Do the work of a claimed job; whatever goes wrong with it is the end of that job and of nothing else."""
    try:
        do()
    except Cancelled:
        finish_job(database, job_id, CANCELLED)
    except InputError as error:
        finish_job(database, job_id, FAILED, str(error))
    except OSError as error:
        finish_job(
            database, job_id, FAILED, f"{error.strerror}: free space or mend the instance folder, and start it again"
        )
    except MemoryError:
        finish_job(database, job_id, FAILED, "there is not enough memory: take a smaller log, and start it again")
    except Exception as error:  # a method may be of another package
        finish_job(database, job_id, FAILED, _told(error))


def _told(error: Exception) -> str:
    """The kind and the place only: the message could hold what somebody typed."""
    place = traceback.extract_tb(error.__traceback__)[-1]
    return f"unexpected {type(error).__name__} in {place.name}, line {place.lineno}: this is a fault of the program"


def cancel_job(database: Database, job_id: int) -> None:
    """A waiting job ends at once; a running one is told, and stops when it next looks."""
    get_job(database, job_id)
    with database.writing() as session:
        waiting = update(Job).where(Job.id == job_id, Job.state == QUEUED)
        session.execute(waiting.values(state=CANCELLED, cancel=True, finished_at=now()))
        session.execute(update(Job).where(Job.id == job_id, Job.state == RUNNING).values(cancel=True))


def start_again(database: Database, job_id: int) -> None:
    job = get_job(database, job_id)
    with database.writing() as session:
        again = update(Job).where(Job.id == job_id, Job.state.in_(_AGAIN))
        changed = session.execute(again.values(state=QUEUED, cancel=False, error="", seen_at=None, finished_at=None))
        if not changed.rowcount:  # type: ignore[attr-defined]
            raise Conflict(f"run {job_id} is {job.state}: only one that failed or was stopped can be started again")


def tend_running(database: Database) -> None:
    """Give up jobs whose process is gone, and stop those that were cancelled and do not answer."""
    with database.reading() as session:
        running = session.scalars(select(Job).where(Job.state == RUNNING)).all()
    for job in running:
        if job.cancel and job.host == host() and job.seen_at and now() - job.seen_at > _GRACE:
            stop(job.pid, job.birth)
        if not _lives(job):
            _give_up(database, job)


def _lives(job: Job) -> bool:
    if job.host == host():
        return is_alive(job.pid, job.birth)
    return job.seen_at is not None and now() - job.seen_at < _SILENCE


def _give_up(database: Database, job: Job) -> None:
    """Only if it is still the attempt that was looked at: it may have ended well, or begun anew, in between."""
    state = CANCELLED if job.cancel else INTERRUPTED
    error = "" if job.cancel else "Its process ended before the work did. Start it again."
    same = update(Job).where(Job.id == job.id, Job.state == RUNNING, Job.attempts == job.attempts)
    with database.writing() as session:
        session.execute(same.values(state=state, error=error, finished_at=now(), pid=0, birth=""))


def waiting_jobs(database: Database) -> list[int]:
    """The jobs that may start now, the oldest first."""
    with database.reading() as session:
        running = session.scalar(_at_work()) or 0
        free = max(AT_ONCE - running, 0)
        return list(session.scalars(select(Job.id).where(Job.state == QUEUED).order_by(Job.id).limit(free)))


def may_start(database: Database, job_id: int) -> bool:
    """Whether to start a process for a waiting job: only one at a time, though many may look after the jobs."""
    moment = now()
    idle = or_(Job.seen_at.is_(None), Job.seen_at < moment - _STARTING)
    waiting = update(Job).where(Job.id == job_id, Job.state == QUEUED, idle).values(seen_at=moment)
    with database.writing() as session:
        return session.execute(waiting.returning(Job.id)).first() is not None
