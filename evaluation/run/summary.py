"""What do the outcomes say? One row per setting with intervals, and each setting against the controls."""

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TypeVar

import numpy as np

from shoal.corpus.progress import Progress, silent
from shoal.evaluation.experiment import Experiment
from shoal.evaluation.measures.base import Measure, RankingMeasure, Served, ServedMeasure
from shoal.evaluation.measures.registry import measures_of
from shoal.evaluation.protocol.truth import Truth
from shoal.evaluation.run.outcomes import CONTROLS, Outcome, Run, with_controls
from shoal.evaluation.run.results import Results, Row, rounded
from shoal.evaluation.run.statistics import compare, holm, intervals, losers

M = TypeVar("M", bound=Measure)


def conduct(run: Run, progress: Progress = silent) -> Results:
    """Measure all settings of the experiment, and the controls that they are compared with."""
    asked = list(run.experiment.settings)
    return summarize(run, run.measure(with_controls(asked), progress), len(asked))


def summarize(run: Run, outcomes: Sequence[Outcome], asked: int, target: Sequence[Row] = ()) -> Results:
    """The results of the first `asked` outcomes; the others are there to compare with."""
    shown, seed = outcomes[:asked], run.experiment.seeds[0]
    named = [(outcome, _named(outcome)) for outcome in shown]
    return Results(
        experiment=_told(run.experiment),
        data=_data(run),
        rows=_rows(run, shown, outcomes),
        comparisons=[row for truth in run.workload.truths for row in _comparisons(shown, outcomes, truth.suffix, seed)],
        losers=[name | asdict(losers(o.scores["ap10"], run.workload.profile_size)) for o, name in named],
        failures=[name | {"reason": o.failure} for o, name in named if o.failure],
        costs=[
            name | {"seconds": o.seconds, "peak_mb": o.peak_mb, "cell_seconds": o.cell_seconds} for o, name in named
        ],
        target=list(target),
    )


def _named(outcome: Outcome) -> Row:
    return {"method": outcome.setting.method, "params": outcome.setting.params}


def _rows(run: Run, shown: Sequence[Outcome], outcomes: Sequence[Outcome]) -> list[Row]:
    rows = [_named(o) for o in shown]
    for truth in run.workload.truths:
        for row, served in zip(rows, _served(truth, shown, outcomes), strict=True):
            row |= {f"{m.name}{truth.suffix}": rounded(m.compute(served)) for m in _of(ServedMeasure, truth)}
        for name in (f"{m.name}{truth.suffix}" for m in _of(RankingMeasure, truth) if m.interval):
            bounds = intervals(np.stack([o.scores[name] for o in shown]), run.experiment.seeds[0])
            for row, (low, high) in zip(rows, bounds, strict=True):
                row |= {f"{name}_low": rounded(low), f"{name}_high": rounded(high)}
    for row, outcome in zip(rows, shown, strict=True):
        row |= {name: rounded(float(values.mean())) for name, values in outcome.scores.items()}
        row |= {name: rounded(value) for name, value in outcome.measures.items()}
    wanted = {"method", "params", *run.experiment.measures} if run.experiment.measures else None
    return [{name: value for name, value in row.items() if wanted is None or name in wanted} for row in rows]


def _served(truth: Truth, shown: Sequence[Outcome], outcomes: Sequence[Outcome]) -> list[Served]:
    """How each setting served the people of a truth."""
    ap10 = f"ap10{truth.suffix}"
    floor = next(o.scores[ap10] for o in outcomes if o.setting.method == "everyone")
    names = [(measure.name, f"{measure.name}{truth.suffix}") for measure in measures_of(RankingMeasure)]
    return [Served({name: o.scores[full] for name, full in names}, floor, len(truth.row)) for o in shown]


def _of(kind: type[M], truth: Truth) -> list[M]:
    """The measures of a kind that have a meaning against this truth."""
    return [measure for measure in measures_of(kind) if bool(truth.suffix) in measure.truths]


def _comparisons(shown: Sequence[Outcome], outcomes: Sequence[Outcome], suffix: str, seed: int) -> list[Row]:
    """Every setting against its controls, by AP@10 of each user, the p-values of all corrected together."""
    pairs = [(outcome, control) for outcome in shown for control in _controls(outcome, outcomes)]
    name = f"ap10{suffix}"
    found = compare([o.scores[name] for o, _ in pairs], [c.scores[name] for _, c in pairs], seed)
    corrected = holm(np.array([paired.p for paired in found]))
    return [
        _named(outcome)
        | {"truth": "clicks" if suffix else "profile", "against": str(control.setting)}
        | {key: rounded(value) for key, value in asdict(paired).items()}
        | {"p_holm": rounded(p)}
        for (outcome, control), paired, p in zip(pairs, found, corrected, strict=True)
    ]


def _controls(outcome: Outcome, outcomes: Sequence[Outcome]) -> list[Outcome]:
    """The controls of a setting; of several `random` ones, that whose groups are nearest in size."""
    found = []
    for name in CONTROLS:
        same = [o for o in outcomes if o.setting.method == name]
        nearest = min(same, key=lambda o: abs(np.log((o.sharing or 1) / (outcome.sharing or 1))))
        if outcome.setting.method != name:
            found.append(nearest)
    return found


def _told(experiment: Experiment) -> Row:
    """The experiment as data; paths only by their last part, which is all that concerns others."""
    told = asdict(experiment) | {"settings": [str(setting) for setting in experiment.settings]}
    for name in ("corpus", "log", "taxonomy", "directory"):
        told[name] = Path(told[name]).name
    return told


def _data(run: Run) -> Row:
    work = run.workload
    return {
        "users": len(work.train.users), "events": len(work.train) + len(work.test), "profile_events": len(work.train),
        "evaluated_users": len(work.users), "evaluated_queries": len(work.queries),
        "queries_with_too_few_candidates": work.queries.left_out, "users_without_profile": work.without_profile,
        "rejected_rows": len(run.rejected),
    }  # fmt: skip
