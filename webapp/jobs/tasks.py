"""What does a job do? A task is plain data, checked when the job is added and read by its process."""

from collections.abc import Mapping
from pathlib import Path

from shoal.anonymizer.registry import make_method
from shoal.corpus.errors import InputError
from shoal.corpus.logs import load_log
from shoal.webapp.core.logs import REJECTED, get_log, read_registered, register_log
from shoal.webapp.core.settings import Settings
from shoal.webapp.database import Database, Job
from shoal.webapp.database.models import DONE, PREVIEW, READING, RUN
from shoal.webapp.jobs.queue import add_job, finish_job
from shoal.webapp.jobs.run import STEPS, Steps, make_release, preview

PREVIEW_USERS = 200
_READING_STEPS = ("Reading the log",)


def add_run(
    database: Database,
    method: str,
    given: Mapping[str, object],
    log_id: int,
    *,
    seed: int = 0,
    users: int = 0,
    account: str = "",
) -> int:
    """A run of a method, or with `users` a preview on so many of them. Bad settings are refused here."""  # fmt: skip
    params = dict(make_method(method, given).settings)
    if not 0 <= seed < 2**31:
        raise InputError(f"seed={seed} is not allowed: give a whole number from 0 to {2**31 - 1}")
    task = {"method": method, "params": params, "log": get_log(database, log_id).id, "seed": seed, "users": users}
    return add_job(database, PREVIEW if users else RUN, task, len(STEPS), account)


def add_reading(database: Database, path: Path, name: str, account: str = "") -> int:
    """The reading of an uploaded log."""
    return add_job(database, READING, {"path": str(path), "name": name[:200]}, len(_READING_STEPS), account)


def carry_out(database: Database, settings: Settings, job: Job, steps: Steps) -> None:
    """Do what the job says, to its end."""
    if job.kind == READING:
        _read_upload(database, job, steps)
        return
    steps.step(1, STEPS[0])
    log = read_registered(database, job.task["log"], steps)
    if job.kind == RUN:
        make_release(database, settings.instance, job, log, settings.corpus_source, steps)
        return
    method = make_method(job.task["method"], job.task["params"])
    result = preview(method, log, job.task["users"], job.task["seed"], settings.corpus_source, steps)
    finish_job(database, job.id, DONE, result=result)


def _read_upload(database: Database, job: Job, steps: Steps) -> None:
    path = Path(job.task["path"])
    steps.step(1, _READING_STEPS[0])
    log, rejected = load_log(str(path), progress=steps)
    if len(rejected):
        rejected.write(path.with_name(REJECTED))
    log_id = register_log(database, log, job.task["name"], str(path), len(rejected))
    finish_job(database, job.id, DONE, result={"log": log_id, "rejected": len(rejected), "rows": len(log)})
