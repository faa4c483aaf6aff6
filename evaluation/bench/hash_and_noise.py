"""What do shares of queries, hashed tokens and noisy counts cost? Whole releases, up to all of AOL."""

from collections.abc import Mapping

from shoal.anonymizer.parameters import Value
from shoal.anonymizer.registry import make_method
from shoal.corpus.progress import Progress
from shoal.evaluation.bench import Row
from shoal.evaluation.bench.affinity import AOL_QUERIES, log_of
from shoal.evaluation.run.timing import in_own_process, timed

QUICK_QUERIES = 200_000
MINUTES, MEGABYTES = 10, 8 * 1024
SETTINGS: dict[str, Mapping[str, Value]] = {
    "secret-sharing": {"k": 5},
    "token-hashing": {"bits": 64},
    "dp-queries": {"epsilon": 1.0, "delta": 1e-5, "per_user": 20},
}


def run(full: bool, progress: Progress) -> list[Row]:
    rows = []
    for done, method in enumerate(SETTINGS):
        progress(done, len(SETTINGS), f"{method}: a whole release")
        rows.append(whole_release(method, AOL_QUERIES if full else QUICK_QUERIES))
    progress(len(SETTINGS), len(SETTINGS), "whole releases")
    return rows


def whole_release(method: str, queries: int) -> Row:
    """A release of so many queries, in a process of its own; the memory holds the simulation, too."""
    (made_of, seconds), _, megabytes = in_own_process(seconds_of, method, queries)
    set_to = " ".join(f"{name}={value}" for name, value in SETTINGS[method].items())
    return Row(
        f"{method}, {set_to}",
        f"{made_of:,} simulated queries",
        f"{MINUTES} min, {MEGABYTES:,} MB",
        f"{seconds / 60:.1f} min, {megabytes:,.0f} MB",
        seconds <= 60 * MINUTES and megabytes <= MEGABYTES,
    )


def seconds_of(method: str, queries: int) -> tuple[int, float]:
    """Queries in the log, and the seconds of its release."""
    log = log_of(queries)
    made_by = make_method(method, SETTINGS[method])
    _, seconds = timed(lambda: made_by.run(log, seed=1))
    return len(log), seconds
