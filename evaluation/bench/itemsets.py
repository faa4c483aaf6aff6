"""What does k^m-anonymity cost? Releases of Apriori and HgHs; `peers` holds another Apriori beside ours."""

import time
from dataclasses import dataclass

from shoal.anonymizer.base import ProfileMethod
from shoal.anonymizer.registry import make_method
from shoal.corpus.progress import Progress
from shoal.evaluation.bench import Row
from shoal.evaluation.bench.clump import MEGABYTES, MINUTES, THESIS_SIZE, zipf_profiles
from shoal.evaluation.run.timing import in_own_process

SMALL_SIZE = 1_000
K = 5


@dataclass(frozen=True)
class Work:
    method: str
    m: int
    size: int


SMALL = (Work("apriori", 2, SMALL_SIZE), Work("apriori", 3, SMALL_SIZE), Work("hghs", 2, SMALL_SIZE))
FULL = (*SMALL, Work("apriori", 2, THESIS_SIZE), Work("hghs", 2, THESIS_SIZE))


def run(full: bool, progress: Progress) -> list[Row]:
    rows, works = [], FULL if full else SMALL
    for done, work in enumerate(works):
        progress(done, len(works), f"{work.method}, m={work.m}: {work.size:,} transactions")
        rows.append(_cost_row(work))
    return rows


def _cost_row(work: Work) -> Row:
    (seconds, items), _, megabytes = in_own_process(seconds_of, work)
    return Row(
        f"{work.method}, k={K} m={work.m}",
        f"{work.size:,} transactions",
        f"{MINUTES} min, {MEGABYTES:,} MB",
        f"{seconds:.2f} s of processor time, {megabytes:,.0f} MB, {items:,} items left",
        seconds <= 60 * MINUTES and megabytes <= MEGABYTES,
    )


def seconds_of(work: Work) -> tuple[float, int]:
    """Processor seconds of one release, the best of three where it is quick, and how many items are published.

    Compiling and reading WordNet are not counted.
    """
    method = make_method(work.method, {"k": K, "m": work.m})
    assert isinstance(method, ProfileMethod)
    method.anonymize(zipf_profiles(50))
    profiles, items = zipf_profiles(work.size), 0
    runs: list[float] = []
    while not runs or (len(runs) < 3 and runs[0] < 10):
        before = time.process_time()
        items = len(method.anonymize(profiles).release.labels)
        runs.append(time.process_time() - before)
    return min(runs), items
