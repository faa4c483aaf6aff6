"""The folders of this machine: for what can be made again, for what cannot; and locks: one process at a time."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock, Timeout
from platformdirs import user_cache_path, user_data_path

from shoal.corpus.progress import Progress, silent


def cache_folder() -> Path:
    """SHOAL_CACHE, or what the platform sets aside for caches."""
    own = os.environ.get("SHOAL_CACHE")
    return Path(own).expanduser() if own else user_cache_path("shoal", appauthor=False)


def state_folder() -> Path:
    """SHOAL_STATE, or what the platform sets aside for the data of programs: accounts, runs, releases."""
    own = os.environ.get("SHOAL_STATE")
    return Path(own).expanduser() if own else user_data_path("shoal", appauthor=False)


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
