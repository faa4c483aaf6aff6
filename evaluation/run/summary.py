"""What do the outcomes say? One row per setting with intervals, and each setting against the controls."""

import hashlib
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import polars as pl

from shoal.anonymizer.registry import find_method
from shoal.corpus.profiles import build_profiles
from shoal.corpus.progress import Progress, silent
from shoal.evaluation.experiment import Experiment
from shoal.evaluation.measures.base import BlendMeasure, Measure, RankingMeasure, Served, ServedMeasure
from shoal.evaluation.measures.precision import DEVICE, FREE, better_control
from shoal.evaluation.measures.registry import columns, measures_of
from shoal.evaluation.protocol.truth import Truth
from shoal.evaluation.run.matched_risk import RISK, Curve, answers, luck_of, measure_nearer, random_curve
from shoal.evaluation.run.outcomes import CONTROLS, Outcome, Run, with_all_controls
from shoal.evaluation.run.results import Results, Row, provenance, rounded
from shoal.evaluation.statistics import Estimate, compare, ends, intervals, losers, resampled_means

M = TypeVar("M", bound=Measure)
Ranked = RankingMeasure | BlendMeasure
BLEND = "ap10_served"
_DIGITS = 10  # of the scores of rankings, which others count again from runs and qrels


def conduct(run: Run, progress: Progress = silent) -> Results:
    """Measure all settings of the experiment, the controls, and what else decides who is best at which risk."""
    asked = list(run.experiment.settings)
    with run.processes():
        outcomes = run.measure(with_all_controls(asked), progress)
        outcomes += measure_nearer(run, outcomes, progress)
    return summarize(run, outcomes, len(asked))


def summarize(run: Run, outcomes: Sequence[Outcome], asked: int, target: Sequence[Row] = (), risk: str = "") -> Results:
    """The results of the first `asked` outcomes; the others are there to compare with."""
    shown, seed = outcomes[:asked], run.experiment.seeds[0]
    worked = [o for o in outcomes if not o.failure]
    good = [o for o in shown if not o.failure]
    floor = floor_of(worked)
    rows = _rows(run, outcomes, floor)
    comparisons = [row for truth in run.workload.truths for row in comparisons_of(good, worked, truth.suffix, seed)]
    return Results(
        experiment=_told(run.experiment),
        data=_data(run) | {"kept_is_counted_from": floor.setting.method},
        rows=rows[:asked],
        answers=answers(worked, len(run.workload.train.users), seed),
        comparisons=comparisons,
        losers=[_named(o) | asdict(losers(o.scores["ap10"], run.workload.profile_size)) for o in good],
        failures=[_named(o) | {"reason": o.failure} for o in shown if o.failure],
        costs=[_named(o) | {"seconds": o.seconds, "peak_mb": o.peak_mb, "cell_seconds": o.cell_seconds} for o in shown],
        target=list(target),
        provenance=provenance(run.experiment, run.workload, risk),
        besides=[row for row in rows[asked:] if "failure" not in row],
        people=_people(run, good),
    )


def floor_of(outcomes: Sequence[Outcome]) -> Outcome:
    """The control that `kept` is counted from."""
    free = {o.setting.method: o for o in outcomes if o.setting.method in FREE}
    return free[better_control({name: o.ap10 for name, o in free.items()})]


def _named(outcome: Outcome) -> Row:
    return {"method": outcome.setting.method, "params": outcome.setting.params}


def _rows(run: Run, shown: Sequence[Outcome], floor: Outcome) -> list[Row]:
    """A row for each setting; of one that failed, the reason and nothing else."""
    rows = [_named(o) | ({"failure": o.failure} if o.failure else {}) for o in shown]
    good = [(row, o) for row, o in zip(rows, shown, strict=True) if not o.failure]
    if good:
        for truth in run.workload.truths:
            _add_served(good, floor, truth, run.experiment.seeds[0])
        blends = [(row, o) for row, o in good if BLEND in o.scores]
        if bare := next((o for _, o in blends if o.setting.method == "plain"), None):
            _add_served(blends, bare, run.workload.truths[0], run.experiment.seeds[0], BlendMeasure)
        _add_measures(good, run.experiment.seeds[0])
    wanted = {"method", "params", "failure", *run.experiment.measures} if run.experiment.measures else None
    return [{name: value for name, value in row.items() if wanted is None or name in wanted} for row in rows]


def _add_served(
    good: Sequence[tuple[Row, Outcome]], floor: Outcome, truth: Truth, seed: int, kind: type[Ranked] = RankingMeasure
) -> None:
    """The scores of rankings against one truth, what follows from them, and the intervals of both over people."""
    names = [measure.name for measure in measures_of(kind)]
    values = np.stack([o.scores[f"{name}{truth.suffix}"] for name in names for o in (*(o for _, o in good), floor)])
    served, drawn = (
        _served(means.reshape(len(names), len(good) + 1, *means.shape[1:]), names, truth)
        for means in (values.mean(axis=1), resampled_means(values, seed=seed))
    )
    found: dict[str, Any] = {}
    follows = [measure for measure in _of(ServedMeasure, truth) if measure.of_blend == (kind is BlendMeasure)]
    measures: list[Ranked | ServedMeasure] = [*_of(kind, truth), *follows]
    for measure in measures:
        name = f"{measure.name}{truth.suffix}"
        found[name] = _value(measure, served)
        if measure.interval:
            bounds = ends(_value(measure, drawn))
            found |= {f"{name}_low": bounds[:, 0], f"{name}_high": bounds[:, 1]}
    for i, (row, _) in enumerate(good):
        row |= {name: _one(values, i) for name, values in found.items()}


def _served(means: np.ndarray, names: Sequence[str], truth: Truth) -> Served:
    """Means of each measure and setting, the control's last, as measures take them."""
    scores = {name: means[i, :-1] for i, name in enumerate(names)}
    floor = next(i for i, name in enumerate(names) if name in ("ap10", BLEND))
    return Served(scores, means[floor, -1], len(truth.users), len(truth.row))


def _value(measure: Ranked | ServedMeasure, served: Served) -> Any:
    return measure.compute(served) if isinstance(measure, ServedMeasure) else served.scores[measure.name]


def _one(values: Any, i: int) -> float:
    """A row's value, or the one of all rows."""
    return rounded(float(values[i]), _DIGITS) if isinstance(values, np.ndarray) else rounded(values)


def _add_measures(good: Sequence[tuple[Row, Outcome]], seed: int) -> None:
    """The measures of releases, and the intervals over people of those that have any."""
    for row, outcome in good:
        row |= {name: rounded(value) for name, value in outcome.measures.items()}
    for name in [c.name for c in columns().values() if c.end == "" and f"{c.name}_low" in columns()]:
        for many in sorted({len(o.times) for _, o in good if name in o.of_victims}):  # some attack half of the people
            have = [(row, o) for row, o in good if name in o.of_victims and len(o.times) == many]
            bounds = intervals(np.stack([o.of_victims[name] for _, o in have]), have[0][1].times, seed)
            for (row, _), (low, high) in zip(have, bounds, strict=True):
                ends = (rounded(columns()[name].measure.inside(end)) for end in (low, high))
                row |= dict(zip((f"{name}_low", f"{name}_high"), ends, strict=True))


def _of(kind: type[M], truth: Truth) -> list[M]:
    """The measures of a kind that have a meaning against this truth."""
    return [measure for measure in measures_of(kind) if bool(truth.suffix) in measure.truths]


@dataclass(frozen=True, eq=False)
class _Pair:
    """A setting beside what it is compared with."""

    outcome: Outcome
    against: str
    between: tuple[str, ...]
    difference: Estimate
    tested: bool


def comparisons_of(shown: Sequence[Outcome], outcomes: Sequence[Outcome], suffix: str, seed: int) -> list[Row]:
    """Every setting against its controls, by AP@10 of each user.

    The family that is corrected together: each setting against `plain`, `everyone` and random groups at its own risk.
    Not in it are pairs whose answer is known before (anything against `original`, whose ranking is the truth) and pairs
    that are there already the other way round.
    """
    name = f"ap10{suffix}"
    at_random = random_curve(outcomes, name)
    pairs = [pair for outcome in shown for pair in _pairs(outcome, outcomes, name, at_random)]
    seen: set[frozenset[str]] = set()
    tested = []
    for pair in pairs:
        both = frozenset({str(pair.outcome.setting), pair.against})
        tested.append(pair.tested and both not in seen)
        seen |= {both} if pair.tested else set()
    found = compare([pair.difference for pair in pairs], tested, seed)
    return [
        _named(pair.outcome)
        | {"truth": "clicks" if suffix else "profile", "against": pair.against, "between": " and ".join(pair.between)}
        | {key: None if value is None else rounded(value) for key, value in asdict(paired).items()}
        for pair, paired in zip(pairs, found, strict=True)
    ]


def _pairs(outcome: Outcome, outcomes: Sequence[Outcome], name: str, at_random: Curve | None) -> list[_Pair]:
    found: list[_Pair] = []
    if outcome.setting.method == DEVICE:  # the ranking of `original`, which is compared already
        return found
    own = Estimate(outcome.scores[name])
    for control in outcomes:
        method = control.setting.method
        if method in ("plain", "everyone", "original") and method != outcome.setting.method:
            found.append(_Pair(outcome, method, (), own - Estimate(control.scores[name]), method != "original"))
    if outcome.setting.method not in CONTROLS and RISK in outcome.measures and at_random is not None:
        risk = max(outcome.measures[RISK], at_random.points[0].risk)  # nothing is safer than one group of all
        point = at_random.at(risk, luck=luck_of(outcome))
        found.append(_Pair(outcome, "random at equal risk", point.settings, own - point.estimate, True))
    return found


def _people(run: Run, good: Sequence[Outcome]) -> dict[str, np.ndarray]:
    """What each person got by each setting, so that another evaluation can be compared person by person.

    People go by a digest of their name in the log. Attacks on fewer people than others are not among these.
    """
    if not good:
        return {}
    users, train = run.workload.users, run.workload.train
    found = {"settings": np.array([str(o.setting) for o in good]), "users": _digested(train.users.gather(users))}
    found["ap10"] = np.stack([o.scores["ap10"] for o in good])
    most = max((len(o.victims) for o in good if RISK in o.of_victims), default=0)
    attacked = [o for o in good if RISK in o.of_victims and len(o.victims) == most]
    if attacked:
        found["attacked"] = np.array([str(o.setting) for o in attacked])
        found["victims"] = _digested(train.users.gather(attacked[0].victims))
        found[RISK] = np.stack([o.of_victims[RISK] / o.times for o in attacked])
    return found


def _digested(names: pl.Series) -> np.ndarray:
    return np.array([hashlib.sha256(name.encode()).hexdigest()[:16] for name in names.to_list()])


def _told(experiment: Experiment) -> Row:
    """The experiment as data; paths only by their last part, which is all that concerns others."""
    told = asdict(experiment) | {"settings": [str(setting) for setting in experiment.settings]}
    for name in ("corpus", "log", "taxonomy", "directory", "sensitive"):
        told[name] = Path(told[name]).name
    return told


def _data(run: Run) -> Row:
    work = run.workload
    return {
        "users": len(work.train.users), "events": len(work.train) + len(work.test), "profile_events": len(work.train),
        "evaluated_users": len(work.users), "evaluated_queries": len(work.queries),
        "queries_with_too_few_candidates": work.queries.left_out, "users_without_profile": work.without_profile,
        "rejected_rows": len(run.rejected), "people": work.train.people, **_sensitive(run),
    }  # fmt: skip


def _sensitive(run: Run) -> Row:
    """How many terms of the log are sensitive, where a method treats some so."""
    if not any(find_method(setting.method).info.sensitive for setting in run.experiment.settings):
        return {}
    knowledge = run.experiment.knowledge()
    return {"sensitive": knowledge.sensitive.told(build_profiles(run.workload.train, knowledge.words))}
