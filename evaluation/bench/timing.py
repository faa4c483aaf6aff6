"""How is a cost measured? Seconds and peak memory of a call, and growth over parts of a log as a fitted exponent."""

import multiprocessing
import time
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import numpy as np

from shoal.corpus.querylog import QueryLog
from shoal.evaluation.run.memory import PeakMemory

T = TypeVar("T")


def timed(function: Callable[[], T]) -> tuple[T, float]:
    """What a call gives, and its wall time in seconds."""
    start = time.perf_counter()
    value = function()
    return value, time.perf_counter() - start


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
