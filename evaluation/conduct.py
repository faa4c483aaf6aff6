"""How is an experiment run? Prepared once, every setting measured, and the cells put together as results."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

from corpus.logfile import Rejected
from corpus.progress import Progress, silent
from evaluation.cells import SCORES, Cell, Laboratory
from evaluation.experiment import Experiment
from evaluation.results import Results, Row, rounded
from evaluation.settings import Setting, distinct, make_setting
from evaluation.statistics import compare, holm, intervals, losers
from evaluation.workers import Task, cores, run_all
from evaluation.workload import Workload, prepare

CONTROLS = ("plain", "everyone", "random", "original")


@dataclass(frozen=True, eq=False)
class Outcome:
    """A setting's cells, in the mean over seeds."""

    setting: Setting
    scores: dict[str, np.ndarray]  # per user
    measures: dict[str, float]
    sharing: float
    seconds: float
    peak_mb: float
    failure: str

    @property
    def ap10(self) -> float:
        return float(self.scores["ap10"].mean())


@dataclass(frozen=True, eq=False)
class Run:
    """An experiment under way: what was prepared, and how settings are measured on it."""

    experiment: Experiment
    workload: Workload
    laboratory: Laboratory
    rejected: Rejected
    jobs: int

    def measure(self, settings: Sequence[Setting], progress: Progress = silent) -> list[Outcome]:
        """The outcomes of these settings, in their order."""
        tasks: list[Task] = [(setting, seed) for setting in settings for seed in self.experiment.seeds]
        cells = run_all(self.laboratory, tasks, self.jobs, progress)
        return [_outcome(s, [cells[s, seed] for seed in self.experiment.seeds]) for s in settings]


def begin(experiment: Experiment, folder: Path, jobs: int = 0, progress: Progress = silent) -> Run:
    """Prepare an experiment. `folder` keeps what is finished; `jobs` processes work, 0 for one per core."""
    workload, rejected = prepare(experiment, folder / "cells", progress)
    laboratory = Laboratory(experiment, workload, folder / "cells")
    return Run(experiment, workload, laboratory, rejected, jobs or cores())


def conduct(run: Run, progress: Progress = silent) -> Results:
    """Measure all settings of the experiment, and the controls that they are compared with."""
    asked = list(run.experiment.settings)
    outcomes = run.measure(with_controls(asked), progress)
    return summarize(run, outcomes, len(asked))


def with_controls(settings: Sequence[Setting]) -> list[Setting]:
    """The settings, and after them each control that is not among them."""
    missing = [name for name in CONTROLS if all(setting.method != name for setting in settings)]
    return distinct([*settings, *(make_setting(name, {}) for name in missing)])


def summarize(run: Run, outcomes: Sequence[Outcome], asked: int, target: Sequence[Row] = ()) -> Results:
    """The results of the first `asked` outcomes; the others are there to compare with."""
    shown = outcomes[:asked]
    everyone = next(o.ap10 for o in outcomes if o.setting.method == "everyone")
    bounds = intervals(np.stack([o.scores["ap10"] for o in shown]), run.experiment.seeds[0])
    named = [(o, _named(o.setting)) for o in shown]
    return Results(
        experiment=_told(run.experiment),
        data=_data(run),
        rows=[_row(run, o, everyone, bound) for o, bound in zip(shown, bounds, strict=True)],
        comparisons=_comparisons(shown, outcomes, run.experiment.seeds[0]),
        losers=[name | asdict(losers(o.scores["ap10"], run.workload.profile_size)) for o, name in named],
        failures=[name | {"reason": o.failure} for o, name in named if o.failure],
        costs=[name | {"seconds": o.seconds, "peak_mb": o.peak_mb} for o, name in named],
        target=list(target),
    )


def _outcome(setting: Setting, cells: Sequence[Cell]) -> Outcome:
    shared = [name for name in cells[0].measures if all(name in cell.measures for cell in cells)]
    return Outcome(
        setting,
        {name: np.mean([cell.scores[name] for cell in cells], axis=0) for name in SCORES},
        {name: float(np.mean([cell.measures[name] for cell in cells])) for name in shared},
        float(np.mean([cell.sharing for cell in cells])),
        float(np.mean([cell.seconds for cell in cells])),
        float(np.max([cell.peak_mb for cell in cells])),
        next((cell.failure for cell in cells if cell.failure), ""),
    )


def _named(setting: Setting) -> Row:
    return {"method": setting.method, "params": setting.params}


def kept(ap10: float, everyone: float) -> float:
    """The share of what is personal that a method keeps; 0 where the average of all users already has all of it."""
    return (ap10 - everyone) / (1 - everyone) if everyone < 1 else 0.0


def _row(run: Run, outcome: Outcome, everyone: float, bound: np.ndarray) -> Row:
    means = {name: rounded(float(outcome.scores[name].mean())) for name in SCORES}
    row = _named(outcome.setting) | {
        "users": len(run.workload.users), "queries": len(run.workload.queries),
        "ap10_low": rounded(bound[0]), "ap10_high": rounded(bound[1]),
        "kept": rounded(kept(outcome.ap10, everyone)),
    } | means  # fmt: skip
    row |= {name: rounded(value) for name, value in outcome.measures.items()}
    wanted = run.experiment.measures
    return {name: value for name, value in row.items() if not wanted or name in ("method", "params", *wanted)}


def _comparisons(shown: Sequence[Outcome], outcomes: Sequence[Outcome], seed: int) -> list[Row]:
    pairs = [(o, c) for o in shown for c in _controls(o, outcomes)]
    found = compare([o.scores["ap10"] for o, _ in pairs], [c.scores["ap10"] for _, c in pairs], seed)
    corrected = holm(np.array([paired.p for paired in found]))
    return [
        _named(o.setting)
        | {"against": str(c.setting)}
        | {name: rounded(value) for name, value in asdict(paired).items()}
        | {"p_holm": rounded(p)}
        for (o, c), paired, p in zip(pairs, found, corrected, strict=True)
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
