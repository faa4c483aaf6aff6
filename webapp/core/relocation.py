"""Where older versions kept an instance: the cache folder. One that is found there is moved to its place, once."""

import errno
import os
import shutil
from collections.abc import Callable
from pathlib import Path

from sqlalchemy import select

from shoal.corpus.errors import Conflict, InputError
from shoal.corpus.store.folders import cache_folder
from shoal.corpus.store.locks import alone
from shoal.webapp.core.settings import default_instance
from shoal.webapp.database import Database, Job, LogFile
from shoal.webapp.database.models import READING


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
