"""How is a job started? As a program of its own, which goes on when the server ends."""

import subprocess
import sys
from threading import Thread

from shoal.webapp.database import Database
from shoal.webapp.jobs.queue import may_start, tend_running, waiting_jobs
from shoal.webapp.settings import Settings


def tend(database: Database, settings: Settings) -> None:
    """Look after all jobs: give up those whose process is gone, and start those that wait."""
    tend_running(database)
    for job_id in waiting_jobs(database):
        if may_start(database, job_id):
            start_process(settings, job_id)


def start_process(settings: Settings, job_id: int) -> int:
    """Start the process of a job and return its number. The settings go by a pipe: they may hold a password."""
    process = subprocess.Popen(
        [sys.executable, "-P", "-m", "shoal.webapp.jobs.worker", str(job_id)],
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
