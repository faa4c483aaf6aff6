"""How is a cost measured? Seconds and peak memory of a piece of work, and its growth over parts of a log."""

import multiprocessing
import re
import resource
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, TypeVar

import numpy as np

from shoal.corpus.querylog import QueryLog

T = TypeVar("T")
_STATUS, _RESET = Path("/proc/self/status"), Path("/proc/self/clear_refs")


class PeakMemory:
    """The peak of the process's memory within a `with`, in megabytes.

    Linux can forget an earlier peak; elsewhere the number is the peak since the process began.
    """

    megabytes = 0.0
    grown = 0.0  # above what the process held before

    def __enter__(self) -> "PeakMemory":
        self._before = _kilobytes("VmRSS") / 1024
        if _RESET.exists():
            _RESET.write_text("5")
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.megabytes = _kilobytes("VmHWM") / 1024
        self.grown = self.megabytes - self._before


def _kilobytes(field: str) -> int:
    """A number of the process's status; elsewhere than on Linux its peak memory, which it never falls below."""
    found = re.search(rf"{field}:\s+(\d+) kB", _STATUS.read_text()) if _STATUS.exists() else None
    return int(found[1]) if found else resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def timed(function: Callable[[], T]) -> tuple[T, float]:
    """What a call gives, and its wall time in seconds."""
    start = time.perf_counter()
    value = function()
    return value, time.perf_counter() - start


def best_of(runs: int, work: Callable[[], object]) -> tuple[float, float]:
    """Processor and wall seconds of a call, each the fewest of so many runs."""
    taken = []
    for _ in range(runs):
        before = time.process_time()
        _, clock = timed(work)
        taken.append((time.process_time() - before, clock))
    return min(processor for processor, _ in taken), min(clock for _, clock in taken)


def first_users(log: QueryLog, users: int) -> QueryLog:
    """The log as if only its first users had typed."""
    return log.for_users(np.arange(users)).compacted()


def fitted_exponent(sizes: Sequence[float], seconds: Sequence[float]) -> float:
    """The b of seconds = a * size^b, by least squares on the logarithms."""
    slope, _ = np.polyfit(np.log(np.asarray(sizes, dtype=float)), np.log(np.asarray(seconds, dtype=float)), 1)
    return float(slope)


def in_own_process(function: Callable[..., T], *arguments: Any) -> tuple[T, float, float]:
    """Run a call in a fresh process: what it gives, its seconds, and the peak memory of that process in MB."""
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        return pool.apply(_measured, (function, arguments))


def _measured(function: Callable[..., T], arguments: tuple[Any, ...]) -> tuple[T, float, float]:
    with PeakMemory() as peak:
        value, seconds = timed(lambda: function(*arguments))
    return value, seconds, peak.megabytes
