"""Every method at three levels of measured risk: what a server of simulated people makes by itself, for a choice."""

import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from itertools import pairwise

import numpy as np
from sqlalchemy import select

from shoal.anonymizer.parameters import Parameter, Value
from shoal.anonymizer.registry import find_method, methods
from shoal.corpus.errors import InputError
from shoal.corpus.knowledge import Knowledge
from shoal.corpus.profiles import Profiles, build_profiles
from shoal.corpus.querylog import QueryLog
from shoal.evaluation.experiment.settings import Setting, inside, level_settings, make_setting, privacy_parameter
from shoal.search.index import Index, index_for
from shoal.webapp.core.logs import find_log, read_registered
from shoal.webapp.core.settings import Settings
from shoal.webapp.database import Database, Job, Release
from shoal.webapp.database.models import DONE, INTERRUPTED, LEVELS, QUEUED, RUNNING
from shoal.webapp.jobs.evaluation import add_evaluation, published_evaluation
from shoal.webapp.jobs.measures import measure_risk
from shoal.webapp.jobs.progress import JobProgress
from shoal.webapp.jobs.queue import add_job, attempt, claim_job, finish_job, start_again
from shoal.webapp.jobs.run import Steps, make_release, release_title
from shoal.webapp.jobs.tasks import add_run

RISK = "linkage5"
# How many may be found, of low, medium and high privacy. The parameter is sought by what is measured.
BOUNDS = {"low": 0.2, "medium": 0.05, "high": 0.01}
_FIRST = "medium"  # the level that every method has before any has another
_ROUNDS = 3  # of going on between the last value that fails and the first that meets a bound
_WIDER = 2  # steps beyond the usual levels, for a method that is risky at all of them
_FEW = 60  # users on whom methods are timed

RiskOf = Callable[[Setting], float | None]  # None: the method refuses the log


def offer_levels(database: Database, log_id: int, corpus: str) -> None:
    """Have the levels of a log made, once, and again for other documents, on which their precision is measured anew.

    What was interrupted is gone on with, what was cancelled is not.
    """
    with database.reading() as session:
        jobs = [job for job in session.scalars(select(Job).where(Job.kind == LEVELS)) if job.task["log"] == log_id]
    known = [job for job in jobs if job.task.get("corpus", corpus) == corpus]
    if not known:
        add_job(database, LEVELS, {"log": log_id, "corpus": corpus, "seed": 0}, 1)
    elif known[-1].state == INTERRUPTED:
        start_again(database, known[-1].id)


def latest_levels(database: Database, log_id: int) -> Job | None:
    """The job that made, or makes, the levels of a log."""
    with database.reading() as session:
        found = session.scalars(select(Job).where(Job.kind == LEVELS).order_by(Job.id.desc()))
        return next((job for job in found if job.task["log"] == log_id), None)


def levels_under_way(database: Database, digest: str) -> Job | None:
    """The job that makes the levels of the log with this digest now."""
    return database.remembered(("levels", digest), lambda: _under_way(database, digest))


def _under_way(database: Database, digest: str) -> Job | None:
    log_id = find_log(database, digest)
    job = latest_levels(database, log_id) if log_id is not None else None
    return job if job is not None and job.state in (QUEUED, RUNNING) else None


@dataclass(frozen=True)
class Chosen:
    """A setting and the level that it is of a method; empty where the method has only one."""

    setting: Setting
    level: str
    risk: float


def make_levels(database: Database, settings: Settings, job: Job, steps: Steps) -> None:
    """First one release of every method, the quickest method first, then the other levels."""
    steps.step(1, "Reading the log")
    log = read_registered(database, job.task["log"], steps)
    corpus = job.task.get("corpus", settings.corpus_source)
    index, seed = index_for(corpus), int(job.task["seed"])
    plan = _Plan(log, seed, steps, index)
    for made, chosen in enumerate(plan):
        title = release_title(chosen.setting.method, dict(chosen.setting.values))
        plan.made = made
        beat = partial(steps, made, plan.total, f"making {title}")
        beat()
        run = None if _is_made(database, chosen.setting, job, index) else _claimed(database, chosen, job)
        if run is not None:  # else it is there, or another process was quicker and makes it
            told = _Both(JobProgress(database, run.id), beat)
            attempt(database, run.id, partial(make_release, database, settings.instance, run, log, index, told))
    finish_job(database, job.id, DONE, result={"levels": plan.told()})
    if published_evaluation(database, job.task["log"], corpus) is None:
        add_evaluation(database, corpus, job.task["log"], list(methods()))


def _claimed(database: Database, chosen: Chosen, job: Job) -> Job | None:
    """A run of a setting, for this process."""
    number = add_run(
        database,
        chosen.setting.method,
        dict(chosen.setting.values),
        job.task["log"],
        seed=job.task["seed"],
        offered=chosen.level or "only",
    )
    return claim_job(database, number, even_if_busy=True)


def _is_made(database: Database, setting: Setting, job: Job, index: Index) -> bool:
    """Whether an earlier attempt, or an operator, has made this release, and measured it on these documents.

    One that was deleted since does not come again.
    """
    wanted = {
        "method": setting.method,
        "params": dict(setting.values),
        "log": job.task["log"],
        "seed": job.task["seed"],
    }
    with database.reading() as session:
        made = session.execute(select(Job, Release).join(Release, Release.job_id == Job.id)).all()
    here = index.meta["digest"]
    return any(
        all(one.task[name] == value for name, value in wanted.items())
        and release.certificate.get("corpus_sha256", here) == here
        for one, release in made
    )


class _Both:
    """The steps of a run, which are also signs of life of the job that it is a part of."""

    def __init__(self, run: JobProgress, beat: Callable[[], None]) -> None:
        self._run, self._beat = run, beat

    def step(self, number: int, title: str) -> None:
        self._beat()
        self._run.step(number, title)

    def __call__(self, done: int, total: int, stage: str) -> None:
        self._beat()
        self._run(done, total, stage)


class _Plan:
    """What is made, in which order. The levels of a method are sought when its turn comes."""

    def __init__(self, log: QueryLog, seed: int, steps: Steps, index: Index) -> None:
        self._log, self._seed, self._steps, self._index = log, seed, steps, index
        self._knowledge = Knowledge()
        self._profiles = build_profiles(log, self._knowledge.words)
        self._found: dict[str, dict[str, Chosen]] = {}
        self._doing = "timing the methods"
        self.made, self.total = 0, sum(len(BOUNDS) if _is_set(method) else 1 for method in methods())

    def __iter__(self) -> Iterator[Chosen]:
        for method in self._by_cost():
            self._doing = f"seeking the levels of {method}"
            self._found[method] = choose_levels(method, self._risk)
            found = self._found[method]
            yield from [found[_FIRST]] if _FIRST in found else list(found.values())[:1]
        self.total = sum(map(len, self._found.values()))
        for found in self._found.values():
            yield from (chosen for level, chosen in found.items() if level and level != _FIRST)

    def told(self) -> dict[str, dict[str, dict[str, object]]]:
        """For presets: the values and the risk of each level of each method."""
        return {
            method: {level: {"params": dict(one.setting.values), RISK: one.risk} for level, one in found.items()}
            for method, found in self._found.items()
        }

    def _beat(self, done: int, total: int, stage: str) -> None:
        """How many releases are made, whatever is measured to find the next."""
        self._steps(self.made, self.total, self._doing)

    def _risk(self, setting: Setting) -> float | None:
        method = setting.make(self._knowledge)
        try:
            made = method.run(self._log, profiles=self._profiles, seed=self._seed, progress=self._beat)
        except InputError:
            return None
        return measure_risk(made, self._log, method, self._seed, self._beat, self._index, [RISK]).get(RISK)

    def _by_cost(self) -> list[str]:
        few = self._log.for_users(np.arange(min(_FEW, len(self._log.users)))).compacted()
        profiles = build_profiles(few, self._knowledge.words)
        return sorted(methods(), key=lambda method: self._seconds(method, few, profiles))

    def _seconds(self, method: str, few: QueryLog, profiles: Profiles) -> float:
        start = time.process_time()
        try:
            make_setting(method, {}).make(self._knowledge).run(
                few, profiles=profiles, seed=self._seed, progress=self._beat
            )
        except InputError:
            return float("inf")
        return time.process_time() - start


def _is_set(method: str) -> bool:
    parameter = privacy_parameter(find_method(method).info.parameters)
    return parameter is not None and not isinstance(parameter.default, str)


def choose_levels(method: str, risk_of: RiskOf) -> dict[str, Chosen]:
    """The settings of low, medium and high privacy by their measured risk; one, if the method has nothing to set.

    Of each bound, the setting that comes nearest to it from below. Where fewer than three meet one, those that lie
    farthest from the others: a method that is risky everywhere is offered at its safest.
    """
    if not _is_set(method):
        only = make_setting(method, {})
        risk = risk_of(only)
        return {} if risk is None else {"": Chosen(only, "", risk)}
    tried = _tried(method, risk_of)
    met = (
        max((v for v in tried if tried[v] <= bound), key=lambda v: tried[v], default=None) for bound in BOUNDS.values()
    )
    wanted = _three([value for value in dict.fromkeys(met) if value is not None], tried)
    parameter = _parameter(method)
    by_risk = sorted(wanted, key=lambda value: (-tried[value], value if parameter.more_private == "higher" else -value))
    names = list(BOUNDS) if len(by_risk) == len(BOUNDS) else [*BOUNDS][1 : 1 + len(by_risk)]
    return {
        level: Chosen(make_setting(method, {parameter.name: value}), level, tried[value])
        for level, value in zip(names, by_risk, strict=True)
    }


def _parameter(method: str) -> Parameter[Value]:
    found = privacy_parameter(find_method(method).info.parameters)
    assert found is not None
    return found


def _tried(method: str, risk_of: RiskOf) -> dict[float, float]:
    """The risk at values of the privacy parameter: the usual levels, wider ones, and between them at the bounds."""
    parameter, tried = _parameter(method), {}

    def attempt_at(value: float) -> bool:
        risk = risk_of(make_setting(method, {parameter.name: value}))
        if risk is not None:
            tried[value] = risk
        return risk is not None

    values = [float(setting.value(parameter.name)) for setting in level_settings(method)]
    values = [inside(parameter, value) for value in values]
    for value in values:
        attempt_at(value)
    for _ in range(_WIDER):
        if not tried or min(tried.values()) <= min(BOUNDS.values()):
            break
        further = inside(parameter, values[-1] * (4 if parameter.more_private == "higher" else 0.25))
        if further in tried or not attempt_at(further):
            break
        values.append(further)
    for bound in BOUNDS.values():
        for _ in range(_ROUNDS):
            middle = _middle(parameter, tried, bound)
            if middle is None or middle in tried or not attempt_at(middle):
                break
    return tried


def _middle(parameter: Parameter[Value], tried: Mapping[float, float], bound: float) -> float | None:
    """Halfway between the most private value that fails a bound and the next that meets it."""
    ordered = sorted(tried, reverse=parameter.more_private == "lower")
    for weak, strong in reversed(list(pairwise(ordered))):
        if tried[weak] > bound >= tried[strong]:
            return inside(parameter, float(np.sqrt(weak * strong)) if min(weak, strong) > 0 else (weak + strong) / 2)
    return None


def _three(chosen: list[float], tried: Mapping[float, float]) -> list[float]:
    """Filled up with those whose risk is farthest from all that are chosen; the safest, if none is."""

    def apart(value: float) -> float:
        return min(
            (abs(np.log(max(tried[value], 1e-9) / max(tried[one], 1e-9))) for one in chosen), default=-tried[value]
        )

    while len(chosen) < min(len(BOUNDS), len(tried)):
        chosen = [*chosen, max((value for value in tried if value not in chosen), key=apart)]
    return chosen
