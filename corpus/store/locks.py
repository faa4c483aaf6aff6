"""One process at a time: a lock file that others wait for, and that goes with the process that holds it."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock, Timeout

from shoal.corpus.progress import Progress, silent

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
