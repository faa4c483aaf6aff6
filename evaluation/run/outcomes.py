"""How is an experiment run? Prepared once, then every setting measured, and the controls they are compared with."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from shoal.corpus.logs.aol import Rejected
from shoal.corpus.progress import Progress, silent
from shoal.evaluation.experiment import Experiment
from shoal.evaluation.experiment.settings import Setting, distinct, make_setting
from shoal.evaluation.protocol.workload import Workload, prepare
from shoal.evaluation.run.cells import Cell, Laboratory
from shoal.evaluation.run.workers import Task, cores, run_all

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
    cell_seconds: float
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


def with_controls(settings: Sequence[Setting]) -> list[Setting]:
    """The settings, and after them each control that is not among them."""
    missing = [name for name in CONTROLS if all(setting.method != name for setting in settings)]
    return distinct([*settings, *(make_setting(name, {}) for name in missing)])


def _outcome(setting: Setting, cells: Sequence[Cell]) -> Outcome:
    shared = [name for name in cells[0].measures if all(name in cell.measures for cell in cells)]
    return Outcome(
        setting,
        {name: np.mean([cell.scores[name] for cell in cells], axis=0) for name in cells[0].scores},
        {name: float(np.mean([cell.measures[name] for cell in cells])) for name in shared},
        float(np.mean([cell.sharing for cell in cells])),
        float(np.mean([cell.seconds for cell in cells])),
        float(np.max([cell.peak_mb for cell in cells])),
        float(np.mean([cell.cell_seconds for cell in cells])),
        next((cell.failure for cell in cells if cell.failure), ""),
    )
