"""What does a log cost, from the file to the profiles? Against a reader that checks nothing, and up to all of AOL.

With `--against`, the library of another program reads the same log in turns.
"""

import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import polars as pl

from shoal.corpus.documents import load_documents
from shoal.corpus.knowledge import Knowledge
from shoal.corpus.logs.aol import read_log
from shoal.corpus.people.simulated import simulate_log, write_log
from shoal.corpus.profiles import build_profiles
from shoal.corpus.progress import Progress
from shoal.evaluation.bench import Row
from shoal.evaluation.run.programs import beside, in_turns, taking_part, told_by
from shoal.evaluation.run.timing import PeakMemory, in_own_process

TIMES_POLARS = 2.5
MEMORY_PER_BYTE = 3
REPEATS = 3  # of each reader, in turns; the best counts
_USERS = 5_000
AOL_USERS = 650_000
# Also run with the library of another program, which may be older: what it imports stays where it is.
_ALONE = """
import sys, time
from shoal.corpus.logs.aol import read_log

def seconds():
    start = time.process_time()
    read_log(sys.argv[1])
    return time.process_time() - start

print(min(seconds() for _ in range(3)))
"""
GIGABYTES = 8


def run(full: bool, progress: Progress) -> Sequence[Row]:
    return compare(full, progress, "")


def compare(full: bool, progress: Progress, against: str) -> Sequence[Row]:
    return [*reading(60 if full else 10, progress, against), profiles(AOL_USERS if full else 20_000, progress)]


def reading(times: int, progress: Progress, against: str = "") -> list[Row]:
    """A log of so many times 5,000 users, by our reader and by `polars.read_csv`, in processor seconds."""
    with tempfile.TemporaryDirectory() as folder:
        once, path = Path(folder) / "once.tsv", Path(folder) / "log.tsv"
        write_log(simulate_log(load_documents("news", progress), _USERS, progress=progress), once, progress)
        _repeat(once, path, times)
        progress(0, 1, "reading the log")
        (rows, ours, polars, grown), _, _ = in_own_process(_read, str(once), str(path))
        size = path.stat().st_size / 2**20
        at = f"{rows:,} rows, {size:,.0f} MB, simulated users"
        other = [_row_against(path, at, against)] if against else []
    ratio, share = ours / polars, grown / size
    reached = f"{ratio:.1f} times ({ours:.2f} s, {polars:.2f} s)"
    return [
        Row("reading a log", at, f"{TIMES_POLARS} times polars.read_csv", reached, ratio <= TIMES_POLARS),
        Row("reading a log", at, "memory < 3 x the file", f"{share:.2f} x ({grown:,.0f} MB)", share < MEMORY_PER_BYTE),
        *other,
    ]


def _row_against(path: Path, at: str, against: str) -> Row:
    """The least processor seconds of both, each in processes of its own."""
    told = in_turns(lambda program: float(told_by(program, _ALONE, str(path))), taking_part(against), REPEATS)
    reached = beside([min(seconds) for seconds in told], "{:.2f} s")
    return Row("reading a log, beside another shoal", at, "measured", reached, True)


def _repeat(once: Path, path: Path, times: int) -> None:
    """The same events by more users: each copy gives its ids two digits of its own in front."""
    header, *lines = once.read_text(encoding="utf-8").splitlines()
    with path.open("w", encoding="utf-8") as file:
        file.write(header + "\n")
        for copy in range(times):
            file.write("".join(f"{copy + 10}{line}\n" for line in lines))


def _read(once: str, path: str) -> tuple[int, float, float, float]:
    """Rows, the processor seconds of both readers, and the memory that ours adds after a small log was read."""
    read_log(once)
    with PeakMemory() as memory:
        _, rejected = read_log(path)
    assert not len(rejected)
    rows = len(pl.read_csv(path, separator="\t", quote_char=None))
    runs = [(_processor(lambda: read_log(path)), _processor(lambda: _polars(path))) for _ in range(REPEATS)]
    return rows, min(ours for ours, _ in runs), min(polars for _, polars in runs), memory.grown


def _polars(path: str) -> None:
    pl.read_csv(path, separator="\t", quote_char=None)


def _processor(work: Callable[[], object]) -> float:
    start = time.process_time()
    work()
    return time.process_time() - start


def profiles(users: int, progress: Progress) -> Row:
    """From the file to the matrix."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "log.tsv"
        progress(0, 2, f"simulating {users:,} users")
        in_own_process(_simulate, users, str(path))
        progress(1, 2, "making profiles")
        (events, terms, entries), seconds, peak = in_own_process(_profiles, str(path))
    reached = f"{peak / 1024:.2f} GB, {seconds:.1f} s, {entries:,} entries, {terms:,} terms"
    at = f"{users:,} simulated users, {events:,} queries"
    return Row("log to profiles", at, f"{GIGABYTES} GB", reached, peak < GIGABYTES * 1024)


def _simulate(users: int, path: str) -> None:
    write_log(simulate_log(load_documents("news"), users), path)


def _profiles(path: str) -> tuple[int, int, int]:
    log, _ = read_log(path)
    made = build_profiles(log, Knowledge().words)
    return len(log), len(made.terms), int(made.counts.nnz)
