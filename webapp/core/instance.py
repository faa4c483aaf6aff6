"""What does a server need before its first search? Tables, an account, and a release that is active."""

from pathlib import Path

from shoal.anonymizer.parameters import Value
from shoal.corpus.errors import InputError
from shoal.corpus.progress import Progress, silent
from shoal.corpus.querylog import QueryLog
from shoal.corpus.store.locks import alone
from shoal.search.index import Index
from shoal.webapp.core.accounts import create_first_account
from shoal.webapp.core.activation import activate
from shoal.webapp.core.logs import register_log
from shoal.webapp.core.releases import ActiveReleases
from shoal.webapp.core.relocation import follow_uploads
from shoal.webapp.core.settings import Settings
from shoal.webapp.database import Database
from shoal.webapp.database.models import FAILED
from shoal.webapp.jobs.queue import claim_job, finish_job, tend_running
from shoal.webapp.jobs.run import make_release
from shoal.webapp.jobs.tasks import add_run

# Tried in this order: the first that the log is large enough for. Nobody starts out alone with a profile.
_FIRST_METHODS: tuple[tuple[str, dict[str, Value]], ...] = (
    ("linkability", {"p": 0.2, "members": 5}),
    ("random", {}),
    ("everyone", {}),
    ("plain", {}),
)
_NOTE = "first start"


class _Told:
    """A progress callback for whoever waits at the terminal; the steps of a job are its stages."""

    def __init__(self, progress: Progress) -> None:
        self._progress = progress

    def step(self, number: int, title: str) -> None:
        self._progress(number, 5, "making the first release")

    def __call__(self, done: int, total: int, stage: str) -> None:
        self._progress(done, total, stage)


def open_instance(
    settings: Settings, log: QueryLog, index: Index, progress: Progress = silent
) -> tuple[Database, ActiveReleases]:
    """The database and the releases of a server, made if this is their first start.

    Several processes may start at once: the first does all of it, the others wait and find it done.
    """
    database = Database(settings.database)
    releases = ActiveReleases(database, settings.instance, log.digest())
    settings.instance.mkdir(parents=True, exist_ok=True, mode=0o700)
    with alone(settings.instance / "start.lock"):
        database.upgrade()
        follow_uploads(database, settings.instance)
        _tell_password(create_first_account(database))
        log_id = register_log(database, log, Path(settings.log_source).name, _lasting(settings.log_source))
        tend_running(database)
        if releases.current_id() is None:
            _first_release(database, settings, log_id, log, index, progress)
    return database, releases


def _lasting(source: str) -> str:
    """A path that means the same in a process started elsewhere."""
    return str(Path(source).resolve()) if Path(source).exists() else source


def _tell_password(password: str | None) -> None:
    if password is not None:
        print(f"\n  First start: log in at /admin as  admin  with the one-time password  {password}\n", flush=True)


def _first_release(
    database: Database, settings: Settings, log_id: int, log: QueryLog, index: Index, progress: Progress
) -> None:
    for method, settings_of_method in _FIRST_METHODS:
        job = claim_job(database, add_run(database, method, settings_of_method, log_id), even_if_busy=True)
        assert job is not None, "nobody else knows of a job that was added under the lock"
        try:
            release_id = make_release(database, settings.instance, job, log, index, _Told(progress))
        except InputError as error:
            finish_job(database, job.id, FAILED, str(error))
            continue
        activate(database, release_id, log.digest(), note=_NOTE, confirmed=True)
        return
