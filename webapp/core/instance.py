"""What does a server need before its first search? Its folder (an old one is moved), tables, an account, a release."""

import errno
import os
import shutil
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path

from sqlalchemy import select

from shoal.anonymizer.parameters import Value
from shoal.corpus.errors import Conflict, InputError
from shoal.corpus.progress import Progress, silent
from shoal.corpus.store.folders import alone, cache_folder
from shoal.search.index import Index
from shoal.webapp.core.accounts import create_first_account, write_one_time
from shoal.webapp.core.activation import activate, history
from shoal.webapp.core.gate import Consent
from shoal.webapp.core.logs import ServedLog, find_log, register_log
from shoal.webapp.core.releases import ActiveReleases
from shoal.webapp.core.seal import check_damaged, seal_old_releases
from shoal.webapp.core.settings import Settings, default_instance
from shoal.webapp.core.uploads import clean_uploads
from shoal.webapp.core.withdrawal import finish_deletions
from shoal.webapp.database import Database, Job, LogFile
from shoal.webapp.database.models import FAILED, READING
from shoal.webapp.jobs.levels import offer_levels
from shoal.webapp.jobs.queue import claim_job, finish_job, tend_running
from shoal.webapp.jobs.run import make_release
from shoal.webapp.jobs.tasks import add_run


def old_instance() -> Path:
    return cache_folder() / "instance"


def move_old_instance(instance: Path, tell: Callable[[str], None]) -> None:
    """Bring the instance of an older version to where this one looks for it. Any other folder is left alone."""
    old = old_instance()
    if instance != default_instance() or not _holds_state(old):
        return
    try:
        instance.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        with alone(instance.with_name(f".{instance.name}.lock")):
            if not _holds_state(old):
                return  # another process was first
            if _holds_state(instance):
                tell(f"Another instance, of an older version, is left as it is in {old}; {instance} is used.")
                return
            _refuse_while_served(old)
            _move(old, instance)
    except OSError as error:
        reason = error.strerror or "not all of it could be copied"
        raise InputError(
            f"the instance in {old} cannot be moved to {instance} ({reason}): make room and permit it, "
            f"or give its folder by --instance {old}"
        ) from error
    tell(f"The instance (accounts, key, runs, releases, uploads) was moved from {old} to {instance}.")


def _holds_state(folder: Path) -> bool:
    return any((folder / name).exists() for name in ("secret.key", "shoal.sqlite3", "runs", "uploads"))


def _refuse_while_served(old: Path) -> None:
    """A server that still works on the folder would go on writing to where it was."""
    for path in (old / "metrics").glob("*-*.f64"):
        pid = path.stem.rpartition("-")[2]
        command = Path("/proc") / pid / "cmdline"
        if command.is_file() and b"shoal" in command.read_bytes():
            raise Conflict(f"process {pid} still serves the instance in {old}: stop it, then start this one again")


def _move(old: Path, new: Path) -> None:
    """By one rename. To another file system it is copied beside its place first, so that nobody sees half of it."""
    if new.is_dir():
        new.rmdir()  # an empty one; any other is an error
    try:
        os.rename(old, new)
        return
    except OSError as error:
        if error.errno != errno.EXDEV:
            raise
    aside = new.with_name(f".{new.name}-moving")
    shutil.rmtree(aside, ignore_errors=True)  # what a move left that was killed: the lock is ours
    os.mkdir(aside, 0o700)  # nobody else may look in while it is filled
    try:
        shutil.copytree(old, aside, symlinks=True, dirs_exist_ok=True)
        os.chmod(aside, 0o700)
        os.sync()
        os.rename(aside, new)
    except OSError:
        shutil.rmtree(aside, ignore_errors=True)
        raise
    shutil.rmtree(old)


def follow_uploads(database: Database, instance: Path) -> None:
    """The database names uploaded logs by their paths: those that were moved along get the new ones."""
    before = f"{old_instance()}{os.sep}"

    def moved(path: str) -> str:
        there = instance / path.removeprefix(before)
        return str(there) if path.startswith(before) and there.exists() else path

    with database.writing() as session:
        for log in session.scalars(select(LogFile).where(LogFile.source.startswith(before, autoescape=True))):
            log.source = moved(log.source)
        for job in session.scalars(select(Job).where(Job.kind == READING)):
            job.task = {**job.task, "path": moved(job.task["path"])}


# Tried in this order: the first that the log is large enough for. Nobody starts out alone with a profile.
FIRST_METHODS: tuple[tuple[str, dict[str, Value]], ...] = (
    ("linkability", {"p": 0.2, "members": 5}),
    ("random", {}),
    ("everyone", {}),
    ("plain", {}),
)
_OF_NOBODY = FIRST_METHODS[-1:]
_NOTE = "first start"


class _Told:
    """A progress callback for whoever waits at the terminal; the steps of a job are its stages."""

    def __init__(self, progress: Progress) -> None:
        self._progress = progress

    def step(self, number: int, title: str) -> None:
        self._progress(number, 5, "making the first release")

    def __call__(self, done: int, total: int, stage: str) -> None:
        self._progress(done, total, stage)


def open_database(settings: Settings) -> Database:
    """The database of a server, made if this is its first start, with an account.

    Several processes may start at once: the first does all of it, the others wait and find it done.
    """
    settings.protect_folder()
    database = Database(settings.database)
    try:
        with _start(settings):
            _prepare(database, settings)
    except BaseException:
        database.close()
        raise
    return database


def _prepare(database: Database, settings: Settings) -> None:
    instance = settings.instance
    refuse_lost_database(database, instance)
    database.upgrade()
    follow_uploads(database, instance)
    seal_old_releases(database, instance)
    check_damaged(database, instance)
    finish_deletions(database, instance)
    _tell_password(settings, create_first_account(database))
    tend_running(database)
    clean_uploads(database, instance)


def refuse_lost_database(database: Database, instance: Path) -> None:
    """A database that does not know the runs that are there was lost, or is an old copy.

    To begin anew over them would give their ids to others, and publish what was withdrawn.
    """
    database.check()
    numbers = sorted(int(path.name[1:]) for path in (instance / "runs").glob("r*") if path.name[1:].isdigit())
    unknown = sorted(set(numbers) - database.numbers(Job))
    if unknown:
        some = ", ".join(f"r{number}" for number in unknown[:3]) + (", ..." if len(unknown) > 3 else "")
        raise Conflict(
            f"the database does not know {some} in {instance / 'runs'}: it was lost, or is older than they are. "
            f"Restore its latest copy, or move {instance / 'runs'} away to begin anew"
        )


def _start(settings: Settings) -> AbstractContextManager[None]:
    return alone(settings.instance / "start.lock")


def open_releases(
    settings: Settings, database: Database, log: ServedLog, index: Index, progress: Progress = silent
) -> ActiveReleases:
    """The releases of the log that is served; the first one is made, if there is none."""
    releases = ActiveReleases(
        database, settings.instance, log.digest, of_real_people=log.people == "real", corpus_digest=index.meta["digest"]
    )
    with _start(settings):
        if not log.entered:
            register_log(database, log.read(), log.name, log.source)
        if not history(database, log.digest, limit=1):  # what was withdrawn since is not made good for
            _first_release(releases, log, index, progress)
        if settings.levels and log.people != "real":
            offer_levels(database, _entered(database, log), settings.corpus_source)
    return releases


def _entered(database: Database, log: ServedLog) -> int:
    found = find_log(database, log.digest)
    assert found is not None, "a log is entered before releases are made of it"
    return found


def _tell_password(settings: Settings, password: str | None) -> None:
    if password is not None:
        path = write_one_time(settings.instance, "admin", password)
        print(f"\n  First start: log in at /admin as  admin  with the one-time password  {password}\n"
              f"  It is good for 24 hours, and stands in {path} until it is changed.\n", flush=True)  # fmt: skip


def _first_release(releases: ActiveReleases, served: ServedLog, index: Index, progress: Progress) -> None:
    """Where the people are real, publishing is an act of the operator: the first release is of nobody."""
    database = releases.database
    log, log_id = served.read(), _entered(database, served)
    for method, settings_of_method in FIRST_METHODS if served.people != "real" else _OF_NOBODY:
        job = claim_job(database, add_run(database, method, settings_of_method, log_id), even_if_busy=True)
        assert job is not None, "nobody else knows of a job that was added under the lock"
        try:
            release_id = make_release(database, releases.instance, job, log, index, _Told(progress))
        except InputError as error:
            finish_job(database, job.id, FAILED, str(error))
            continue
        activate(releases, release_id, Consent(note=_NOTE, confirmed=True))
        return
