"""What do the profiles of all users of a large log cost? Seconds and memory, from the file to the matrix."""

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
from shoal.evaluation.bench.timing import in_own_process

AOL_USERS = 650_000
GIGABYTES = 8


def run(full: bool, progress: Progress) -> Sequence[Row]:
    users = AOL_USERS if full else 20_000
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "log.tsv"
        progress(0, 2, f"simulating {users:,} users")
        in_own_process(_simulate, users, str(path))
        progress(1, 2, "making profiles")
        (events, terms, entries), seconds, peak = in_own_process(_profiles, str(path))
    reached = f"{peak / 1024:.2f} GB, {seconds:.1f} s, {entries:,} entries, {terms:,} terms"
    at = f"{users:,} simulated users, {events:,} queries"
    return [Row("log to profiles", at, f"{GIGABYTES} GB", reached, peak < GIGABYTES * 1024)]


def _simulate(users: int, path: str) -> None:
    write_log(simulate_log(load_documents("news"), users), path)


def _profiles(path: str) -> tuple[int, int, int]:
    log, _ = read_log(path)
    made = build_profiles(log, Knowledge().words)
    return len(log), len(made.terms), int(made.counts.nnz)
