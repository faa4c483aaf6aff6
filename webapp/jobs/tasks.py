"""What can be asked for? A run, a preview or the reading of a log, as plain data that is checked when it is added."""

from collections.abc import Mapping
from pathlib import Path

from shoal.anonymizer.registry import make_method
from shoal.corpus.errors import InputError
from shoal.webapp.core.logs import get_log
from shoal.webapp.database import Database
from shoal.webapp.database.models import PREVIEW, READING, RUN
from shoal.webapp.jobs.queue import add_job
from shoal.webapp.jobs.run import READING_STEPS, STEPS

PREVIEW_USERS = 200


def add_run(
    database: Database,
    method: str,
    given: Mapping[str, object],
    log_id: int,
    *,
    seed: int = 0,
    users: int = 0,
    account: str = "",
    offered: str = "",
) -> int:
    """A run of a method, or with `users` a preview on so many of them. Bad settings are refused here.

    What is `offered`, at some level, is for searchers to choose without an operator.
    """
    params = dict(make_method(method, given).settings)
    if not 0 <= seed < 2**31:
        raise InputError(f"seed={seed} is not allowed: give a whole number from 0 to {2**31 - 1}")
    task = {"method": method, "params": params, "log": get_log(database, log_id).id, "seed": seed, "users": users}
    task |= {"offered": offered} if offered else {}
    return add_job(database, PREVIEW if users else RUN, task, len(STEPS), account)


def add_reading(database: Database, path: Path, name: str, account: str = "", kind: str = READING) -> int:
    """The reading of an uploaded log, or of a corpus, which is indexed."""
    return add_job(database, kind, {"path": str(path), "name": name[:200]}, len(READING_STEPS), account)
