"""What does a log cost, from the file to the profiles? Rows per second, memory against the file, and all of AOL."""

import tempfile
from collections.abc import Sequence
from pathlib import Path

from shoal.corpus.documents import load_documents
from shoal.corpus.knowledge import Knowledge
from shoal.corpus.logs.aol import read_log
from shoal.corpus.people.simulated import simulate_log, write_log
from shoal.corpus.profiles import build_profiles
from shoal.corpus.progress import Progress
from shoal.evaluation.bench import Row
from shoal.evaluation.run.timing import PeakMemory, in_own_process, timed

ROWS_PER_SECOND = 1_000_000
MEMORY_PER_BYTE = 3
_USERS = 5_000
AOL_USERS = 650_000
GIGABYTES = 8


def run(full: bool, progress: Progress) -> Sequence[Row]:
    return [*reading(60 if full else 10, progress), profiles(AOL_USERS if full else 20_000, progress)]


def reading(times: int, progress: Progress) -> list[Row]:
    """A log of so many times 5,000 users."""
    with tempfile.TemporaryDirectory() as folder:
        once, path = Path(folder) / "once.tsv", Path(folder) / "log.tsv"
        write_log(simulate_log(load_documents("news", progress), _USERS, progress=progress), once, progress)
        _repeat(once, path, times)
        progress(0, 1, "reading the log")
        (rows, seconds, grown), _, _ = in_own_process(_read, str(once), str(path))
        size = path.stat().st_size / 2**20
    at = f"{rows:,} rows, {size:,.0f} MB, simulated users"
    speed, share = rows / seconds, grown / size
    return [
        Row("reading a log", at, "1 million rows/s", f"{speed / 1e6:.2f} million rows/s", speed >= ROWS_PER_SECOND),
        Row("reading a log", at, "memory < 3 x the file", f"{share:.2f} x ({grown:,.0f} MB)", share < MEMORY_PER_BYTE),
    ]


def _repeat(once: Path, path: Path, times: int) -> None:
    """The same events by more users: each copy gives its ids two digits of its own in front."""
    header, *lines = once.read_text(encoding="utf-8").splitlines()
    with path.open("w", encoding="utf-8") as file:
        file.write(header + "\n")
        for copy in range(times):
            file.write("".join(f"{copy + 10}{line}\n" for line in lines))


def _read(once: str, path: str) -> tuple[int, float, float]:
    """Rows, the seconds of the best of three runs, and the memory that one adds after a small log was read."""
    read_log(once)
    with PeakMemory() as memory:
        (log, rejected), first = timed(lambda: read_log(path))
    assert not len(rejected)
    seconds = min(first, *(timed(lambda: read_log(path))[1] for _ in range(2)))
    with Path(path).open("rb") as file:
        rows = sum(block.count(b"\n") for block in iter(lambda: file.read(1 << 20), b"")) - 1
    assert len(log) <= rows
    return rows, seconds, memory.grown


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
