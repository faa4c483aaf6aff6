"""Folders for what can be made again and for what cannot, files of secrets, and locks: one process at a time."""

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock, Timeout
from platformdirs import user_cache_path, user_data_path

from shoal.corpus.errors import InputError
from shoal.corpus.progress import Progress, silent


def cache_folder() -> Path:
    """SHOAL_CACHE, or what the platform sets aside for caches."""
    own = os.environ.get("SHOAL_CACHE")
    return Path(own).expanduser() if own else user_cache_path("shoal", appauthor=False)


def state_folder() -> Path:
    """SHOAL_STATE, or what the platform sets aside for the data of programs: accounts, runs, releases."""
    own = os.environ.get("SHOAL_STATE")
    return Path(own).expanduser() if own else user_data_path("shoal", appauthor=False)


def read_secret(path: Path, expected: str) -> str:
    """What a file holds that its owner alone can read."""
    try:
        if stat.S_IMODE(path.stat().st_mode) & 0o077:
            raise InputError(f"{path} can be read by others: run `chmod 600 {path}`")
        return path.read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path} cannot be read: give {expected}") from error


_POLL_SECONDS = 0.1


@contextmanager
def alone(lock: Path, waiting: str = "", progress: Progress = silent) -> Iterator[None]:
    """Hold the lock for the time of the block. While another process has it, `waiting` is told as progress."""
    held = FileLock(lock)
    while not held.is_locked:
        try:
            held.acquire(timeout=_POLL_SECONDS, poll_interval=_POLL_SECONDS)
        except Timeout:
            progress(0, 1, waiting)
    try:
        yield
    finally:
        held.release()
