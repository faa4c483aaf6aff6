"""What do the attacks and the utility measures cost? Seconds for one release, with the victims that are attacked."""

from collections.abc import Sequence
from functools import partial

from shoal.anonymizer.base import Anonymized
from shoal.anonymizer.registry import make_method
from shoal.corpus.documents import load_documents
from shoal.corpus.knowledge import Knowledge
from shoal.corpus.people.simulated import simulate_log
from shoal.corpus.progress import Progress
from shoal.corpus.querylog import QueryLog
from shoal.evaluation.bench import Row
from shoal.evaluation.measures.release import MeasuredRelease, measure_release
from shoal.evaluation.run.timing import timed

SECONDS = 3.0
VICTIMS = 1000
RELEASES: tuple[tuple[str, dict[str, int]], ...] = (
    ("original", {}),
    ("everyone", {}),
    ("random", {"k": 5}),
    ("partition", {"k": 5}),
    ("equality", {"k": 5}),
)


def run(full: bool, progress: Progress) -> Sequence[Row]:
    users = 20_000 if full else 1_000
    progress(0, len(RELEASES) + 1, f"simulating {users:,} users")
    log = simulate_log(load_documents("news"), users).typed()
    _measure(_released(log, "random", {"k": 5}), log)  # so that compiling is not counted
    rows = []
    for step, (method, settings) in enumerate(RELEASES, start=1):
        progress(step, len(RELEASES) + 1, f"measuring {method}")
        release = _released(log, method, settings)
        seconds = timed(partial(_measure, release, log))[1]
        at = f"{users:,} simulated users, {VICTIMS:,} victims, {len(release.release):,} profiles"
        within = SECONDS * users / 1_000
        rows.append(Row(f"measures of {method}", at, f"{within:g} s", f"{seconds:.2f} s", seconds < within))
    return rows


def _released(log: QueryLog, method: str, settings: dict[str, int]) -> Anonymized:
    made = make_method(method, settings, Knowledge())
    return made.run(log)


def _measure(made: Anonymized, log: QueryLog) -> dict[str, float]:
    measured = MeasuredRelease(made.release, made.assignment, log, Knowledge(), 0, VICTIMS, made.claim)
    return measure_release(measured)
