"""The process of a job, which goes on when the server ends: how is it started, and what does it do?"""

import os
import resource
import subprocess
import sys
from contextlib import closing
from threading import Thread

from sqlalchemy import select

from shoal.webapp.core.settings import Settings
from shoal.webapp.core.uploads import clean_uploads
from shoal.webapp.database import Database, Job
from shoal.webapp.database.models import INDEXING, READING
from shoal.webapp.jobs.progress import JobProgress
from shoal.webapp.jobs.queue import attempt, claim_job, may_start, tend_running, waiting_jobs, yields

_PROGRAM = "shoal.webapp.jobs.worker"
_NICE = 10


def tend(database: Database, settings: Settings) -> None:
    """Look after all jobs: give up those whose process is gone, and start those that wait."""
    tend_running(database)
    for job_id in waiting_jobs(database):
        if may_start(database, job_id):
            start_process(settings, job_id)


def start_process(settings: Settings, job_id: int) -> int:
    """Start the process of a job and return its number. The settings go by a pipe: they may hold a password."""
    process = subprocess.Popen(
        [sys.executable, "-P", "-m", _PROGRAM, str(job_id)],
        stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True,
    )  # fmt: skip
    assert process.stdin is not None
    try:
        process.stdin.write(settings.to_json().encode())
        process.stdin.close()
    except BrokenPipeError:
        pass  # it ended at once; the job is still waiting and will be started by the next look
    # Somebody has to take note of its end, or it would stay in the table of processes.
    Thread(target=process.wait, daemon=True).start()
    return process.pid


def limit_memory(share: float = 0.75) -> None:
    """A job that wants more than this share of the machine's memory fails by itself, before others are killed."""
    most = int(share * os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))
    resource.setrlimit(resource.RLIMIT_DATA, (most, most))


def main() -> int:
    limit_memory()
    settings = Settings.from_json(sys.stdin.read())
    with closing(Database(settings.database)) as database:
        if database.ask(select(Job.kind).where(Job.id == int(sys.argv[1]), yields())) is not None:
            os.nice(_NICE)  # nobody waits for these, and searchers do for their answers
        if work(database, settings, int(sys.argv[1])):
            tend(database, settings)
    return 0


def work(database: Database, settings: Settings, job_id: int) -> bool:
    """Do one job, whatever comes of it; False if it was not there to be done."""
    job = claim_job(database, job_id)
    if job is None:
        return False
    attempt(database, job_id, lambda: _carry_out(database, settings, job))
    if job.kind in (READING, INDEXING):
        clean_uploads(database, settings.instance)
    return True


def _carry_out(database: Database, settings: Settings, job: Job) -> None:
    from shoal.webapp.core.served_data import as_served
    from shoal.webapp.jobs.run import carry_out  # claimed first: these imports take seconds

    carry_out(database, as_served(database, settings), job, JobProgress(database, job.id))


if __name__ == "__main__":
    sys.exit(main())
