"""How does the time of a method grow with the users? Its default setting on growing parts of the log."""

import time
from collections.abc import Sequence
from concurrent.futures import wait

from shoal.anonymizer.base import Method
from shoal.corpus.errors import InputError
from shoal.corpus.profiles import Profiles, build_profiles
from shoal.corpus.progress import Progress, silent
from shoal.corpus.querylog import QueryLog
from shoal.evaluation.experiment.settings import Setting, distinct, make_setting
from shoal.evaluation.run.cells import Laboratory
from shoal.evaluation.run.outcomes import CONTROLS, Run
from shoal.evaluation.run.results import Results, Row, by_method
from shoal.evaluation.run.timing import first_users, fitted_exponent
from shoal.evaluation.run.workers import processes, submitted

PARTS = (0.125, 0.25, 0.5, 1.0)
QUICK = 1.0  # seconds
FEWEST_USERS = 200  # of a log whose growth is worth timing
_POLL_SECONDS = 0.2


def growth(run: Run, results: Results, progress: Progress = silent) -> list[Row]:
    """Processor seconds of each method that gave something, at its defaults, for an eighth to all of the users.

    They are timed one after the other, in a process of their own. One that breaks there is left out; of a small log
    there is nothing to see.
    """
    if len(run.workload.train.users) < FEWEST_USERS:
        return []
    failed = {row["method"] for row in results.failures}
    methods = dict.fromkeys(row["method"] for row in results.rows if row["method"] not in (*CONTROLS, *failed))
    settings = distinct(make_setting(method, {}) for method in methods)
    with processes(1) as pool:
        fresh = Laboratory(run.experiment, run.workload, run.laboratory.folder)  # what is loaded cannot be sent
        futures = submitted(pool, _timed, [(fresh, setting) for setting in settings])
        while waiting := wait(futures, _POLL_SECONDS).not_done:
            progress(len(futures) - len(waiting), len(futures), "timing growth")
    return [row for future in futures if not future.exception() for row in future.result()]


def _timed(laboratory: Laboratory, setting: Setting) -> list[Row]:
    train, knowledge = laboratory.workload.train, laboratory.knowledge
    method = setting.make(knowledge)
    sizes = [max(1, round(part * len(train.users))) for part in PARTS]
    rows: list[Row] = []
    for warm, size in [(True, sizes[0]), *((False, size) for size in sizes)]:
        part = first_users(train, size)
        try:
            seconds = _seconds(method, part, build_profiles(part, knowledge.words))
        except InputError:  # too few users for this setting
            continue
        if not warm:
            rows.append({"method": setting.method, "params": setting.params, "users": size, "seconds": seconds})
    return rows


def _seconds(method: Method, log: QueryLog, profiles: Profiles) -> float:
    """Processor seconds, which others on the machine change little; the best of three of what is quick."""
    found: list[float] = []
    while len(found) < 3 and sum(found) < QUICK:
        start = time.process_time()
        method.run(log, profiles=profiles, seed=0)
        found.append(time.process_time() - start)
    return max(min(found), 1e-6)


def exponents(rows: Sequence[Row]) -> dict[str, float]:
    """The b of seconds = a * users^b, of each method with three sizes or more."""
    return {
        method: fitted_exponent([row["users"] for row in same], [row["seconds"] for row in same])
        for method, same in by_method(rows).items()
        if len(same) >= 3
    }
