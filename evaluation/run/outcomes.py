"""How is an experiment run? Prepared once, then every setting measured, and the controls they are compared with."""

from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from shoal.corpus.logs import Rejected
from shoal.corpus.progress import Progress, silent
from shoal.corpus.querylog import QueryLog
from shoal.evaluation.experiment import Experiment
from shoal.evaluation.experiment.settings import Setting, distinct, level_settings, make_setting
from shoal.evaluation.measures.precision import DEVICE
from shoal.evaluation.protocol.workload import Workload, prepare
from shoal.evaluation.run.cells import Cell, Laboratory
from shoal.evaluation.run.workers import Task, cores, kept_processes, run_all

CONTROLS = ("plain", "everyone", "random", "original", DEVICE)


@dataclass(frozen=True, eq=False)
class Outcome:
    """A setting's cells, in the mean over seeds. One that failed with any seed has a reason and nothing else."""

    setting: Setting
    scores: dict[str, np.ndarray]  # per user
    measures: dict[str, float]
    of_victims: dict[str, np.ndarray]  # of each victim of any seed, the sum over the seeds that drew it
    victims: np.ndarray  # who was drawn, as rows of the users of the log
    times: np.ndarray  # how many seeds drew each victim
    seconds: float
    peak_mb: float
    cell_seconds: float
    failure: str = ""

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
    measured: dict[str, Setting] = field(default_factory=dict)  # by the name that results have for each

    def processes(self) -> AbstractContextManager[None]:
        """Where settings are measured some after others, the same processes do it."""
        return kept_processes(self.laboratory, self.jobs)

    def measure(self, settings: Sequence[Setting], progress: Progress = silent) -> list[Outcome]:
        """The outcomes of these settings, in their order."""
        self.measured.update({str(setting): setting for setting in settings})
        tasks: list[Task] = [(setting, seed) for setting in settings for seed in self.experiment.seeds]
        cells = run_all(self.laboratory, tasks, self.jobs, progress)
        return [_outcome(s, [cells[s, seed] for seed in self.experiment.seeds]) for s in settings]


def begin(
    experiment: Experiment,
    folder: Path,
    jobs: int = 0,
    progress: Progress = silent,
    read: tuple[QueryLog, Rejected] | None = None,
    keep_orders: bool = False,
) -> Run:
    """Prepare an experiment. `folder` keeps what is finished; `jobs` processes work, 0 for one per core.

    `read` is the log where it is in memory already. With `keep_orders`, rankings can be written afterwards.
    """
    workload, rejected = prepare(experiment, folder / "cells", progress, read)
    laboratory = Laboratory(experiment, workload, folder / "cells", keep_orders)
    return Run(experiment, workload, laboratory, rejected, jobs or cores())


def with_controls(settings: Sequence[Setting]) -> list[Setting]:
    """The settings, and after them each control that is not among them."""
    missing = [name for name in CONTROLS if all(setting.method != name for setting in settings)]
    return distinct([*settings, *(make_setting(name, {}) for name in missing)])


def with_all_controls(settings: Sequence[Setting]) -> list[Setting]:
    """The same, and random groups of several sizes, whatever others were asked for.

    Every setting is compared with random groups at its own risk, and that must not depend on what was asked for.
    """
    return distinct([*with_controls(settings), *level_settings("random")])


def _outcome(setting: Setting, cells: Sequence[Cell]) -> Outcome:
    costs = (
        float(np.mean([cell.seconds for cell in cells])),
        float(np.max([cell.peak_mb for cell in cells])),
        float(np.mean([cell.cell_seconds for cell in cells])),
    )
    if failure := next((cell.failure for cell in cells if cell.failure), ""):
        return Outcome(setting, {}, {}, {}, np.empty(0), np.empty(0), *costs, failure)
    shared = [name for name in cells[0].measured.values if all(name in cell.measured.values for cell in cells)]
    scored = [name for name in cells[0].scores if all(name in cell.scores for cell in cells)]
    drawn = np.concatenate([cell.measured.victims for cell in cells])
    who, times = np.unique(drawn, return_counts=True)
    return Outcome(
        setting,
        {name: np.mean([cell.scores[name] for cell in cells], axis=0) for name in scored},
        {name: float(np.mean([cell.measured.values[name] for cell in cells])) for name in shared},
        {name: _summed(cells, name, who) for name in cells[0].measured.of_victims if name in shared},
        who,
        times,
        *costs,
    )


def _summed(cells: Sequence[Cell], name: str, who: np.ndarray) -> np.ndarray:
    place = np.searchsorted(who, np.concatenate([cell.measured.victims for cell in cells]))
    values = np.concatenate([cell.measured.of_victims[name] for cell in cells])
    return np.bincount(place, weights=values, minlength=len(who))
