"""What does the process of a job do? Claim the job, do it, say how it ended, and look whether another waits."""

import sys
import traceback

from shoal.corpus.errors import Cancelled, InputError
from shoal.webapp.database import Database
from shoal.webapp.database.models import CANCELLED, FAILED
from shoal.webapp.jobs.queue import claim_job, finish_job
from shoal.webapp.jobs.reporting import JobProgress
from shoal.webapp.jobs.runner import tend
from shoal.webapp.settings import Settings


def main() -> int:
    settings = Settings.from_json(sys.stdin.read())
    database = Database(settings.database)
    done = work(database, settings, int(sys.argv[1]))
    if done:
        tend(database, settings)
    database.close()
    return 0


def work(database: Database, settings: Settings, job_id: int) -> bool:
    """Do one job, whatever comes of it; False if it was not there to be done."""
    job = claim_job(database, job_id)
    if job is None:
        return False
    try:
        from shoal.webapp.jobs.tasks import carry_out  # claimed first: these imports take seconds

        carry_out(database, settings, job, JobProgress(database, job_id))
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
    return True


def _told(error: Exception) -> str:
    """The kind and the place only: the message could hold what somebody typed."""
    place = traceback.extract_tb(error.__traceback__)[-1]
    return f"unexpected {type(error).__name__} in {place.name}, line {place.lineno}: this is a fault of the program"


if __name__ == "__main__":
    sys.exit(main())
