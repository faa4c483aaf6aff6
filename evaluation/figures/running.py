"""How are the papers' figures measured? Every set-up with the settings and columns that its figures need."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import numpy as np
from scipy.special import stdtrit

from shoal.corpus.documents import load_documents
from shoal.corpus.errors import InputError
from shoal.corpus.people.simulated import simulate_log
from shoal.corpus.progress import Progress, silent
from shoal.evaluation.experiment import Experiment
from shoal.evaluation.experiment.settings import Setting, distinct
from shoal.evaluation.figures import Figure, all_figures
from shoal.evaluation.figures.setups import PEOPLE, Draw, People, Setup, density, setups
from shoal.evaluation.measures.base import RankingMeasure
from shoal.evaluation.measures.registry import columns_of
from shoal.evaluation.protocol.workload import searched, unsearched
from shoal.evaluation.run.cells import Cell, Laboratory
from shoal.evaluation.run.outcomes import Run
from shoal.evaluation.run.results import Row, csv_text, read_table, rounded, write_whole
from shoal.evaluation.run.workers import run_all
from shoal.evaluation.statistics import intervals

_FILE, _TIMES = "figures.json", "figures-timings.csv"
_COST_COLUMNS = ("setup", "method", "params", "seconds", "seconds_low", "seconds_high")


@dataclass(frozen=True)
class FigureResults:
    """What was measured for the papers' figures. Only `costs` differ from run to run."""

    setups: list[Row]  # id, title, the paper's data, and what ours were in truth
    rows: list[Row]  # set-up, method, setting, and each column with the ends of its interval
    costs: list[Row]


def measure_figures(run: Run, full: bool, progress: Progress = silent) -> FigureResults:
    """All that the figures need, kept and resumed like the cells of the experiment; `full` in all sizes."""
    people = _people(run.experiment, progress)
    found = FigureResults([], [], [])
    for setup in setups(full):
        _measure(run, setup, people, found, progress)
    return found


def _measure(run: Run, setup: Setup, people: People, found: FigureResults, progress: Progress) -> None:
    """Add what one set-up gives. A setting that failed in any draw has no point, and the reason is told."""
    figures = [figure for figure in all_figures() if setup.id in figure.setups]
    draws = list(setup.make(people, setup))
    cells: dict[Setting, list[Cell]] = {}
    for draw in draws:
        for setting, cell in _cells(run, setup, figures, draw, progress):
            cells.setdefault(setting, []).append(cell)
    failed = {setting: cell.failure for setting, some in cells.items() for cell in some if cell.failure}
    found.setups.append(_told(setup, draws, people, failed))
    for setting in (setting for setting in cells if setting not in failed):
        row, cost = _row(setting, cells[setting], _columns(figures))
        found.rows.append({"setup": setup.id, **row})
        found.costs.append({"setup": setup.id, **cost})


def _people(experiment: Experiment, progress: Progress) -> People:
    """The users of the experiment's log if they are enough, or simulated ones over its documents."""
    log = experiment.read_log(progress)[0]
    if len(log.users) >= PEOPLE:
        return People(log, experiment.knowledge(), f"users of {Path(experiment.log).name}")
    documents = load_documents(experiment.corpus, progress)
    simulated = simulate_log(documents, PEOPLE, experiment.seeds[0], progress).typed()
    return People(simulated, experiment.knowledge(), f"simulated users over {Path(experiment.corpus).name}")


def _columns(figures: Sequence[Figure]) -> list[str]:
    return list(dict.fromkeys(line.column for figure in figures for line in figure.lines if not figure.timed))


def _cells(
    run: Run, setup: Setup, figures: Sequence[Figure], draw: Draw, progress: Progress
) -> Iterator[tuple[Setting, Cell]]:
    """The cells of each setting that a figure needs, one per seed."""
    settings = tuple(distinct(setting for figure in figures for setting in figure.settings))
    experiment = replace(run.experiment, settings=settings, seeds=setup.seeds, measures=tuple(_columns(figures)))
    folder = run.laboratory.folder
    if draw.later is None:
        workload = unsearched(experiment, draw.log)
    else:
        workload = searched(experiment, draw.log, draw.later, folder, progress)
    tasks = [(setting, seed) for setting in settings for seed in setup.seeds]
    cells = run_all(Laboratory(experiment, workload, folder), tasks, run.jobs, progress)
    yield from ((task[0], cells[task]) for task in tasks)


def _row(setting: Setting, cells: Sequence[Cell], columns: Sequence[str]) -> tuple[Row, Row]:
    """The mean of each column over draws and seeds, and what the method cost."""
    name = {"method": setting.method, "params": setting.params}
    row: Row = dict(name)
    for column in columns:
        values = [cell.measured.values[column] for cell in cells if column in cell.measured.values]
        if column in columns_of(RankingMeasure):
            scores = np.mean([cell.scores[column] for cell in cells], axis=0)
            row |= _ends(column, float(scores.mean()), *intervals(scores[None, :])[0])
        elif len(values) == len(cells):
            row |= _mean(column, values)
    return row, name | _mean("seconds", [cell.seconds for cell in cells])


def _mean(column: str, values: Sequence[float]) -> Row:
    return _ends(column, float(np.mean(values)), *_interval(values))


def _ends(column: str, mean: float, low: float, high: float) -> Row:
    return {column: rounded(mean), f"{column}_low": rounded(low), f"{column}_high": rounded(high)}


def _interval(values: Sequence[float]) -> tuple[float, float]:
    """Student's 95 % interval of a mean over draws and seeds; of one value, that value."""
    mean = float(np.mean(values))
    if len(values) < 2:
        return mean, mean
    half = float(stdtrit(len(values) - 1, 0.975) * np.std(values, ddof=1) / np.sqrt(len(values)))
    return mean - half, mean + half


def _told(setup: Setup, draws: Sequence[Draw], people: People, failed: Mapping[Setting, str]) -> Row:
    """What a set-up was in truth: how many users, how often, and how dense."""
    users = [len(draw.log.users) for draw in draws]
    if not users or min(users) == 0:
        raise InputError(f"no user fits the set-up {setup.title}: bring a larger log or corpus")
    times = [f"{len(draws)} draws"] * (len(draws) > 1) + [f"{len(setup.seeds)} seeds"] * (len(setup.seeds) > 1)
    repeated = f"; means over {' and '.join(times)}" if times else "; one draw, so that there is no interval"
    shares = [density(draw.log, people.knowledge) for draw in draws]
    left_out = "".join(f"; {s.method} {s.params} failed: {reason}" for s, reason in failed.items())
    told = f"{min(users):,} {people.told}: {setup.ours}{repeated}{left_out}"
    known = {"id": setup.id, "title": setup.title, "paper": setup.paper}
    return known | {"users": min(users), "density": rounded(float(np.mean(shares))), "told": told}


def write_figures(folder: Path, found: FigureResults | None) -> None:
    """What the report needs to be written again, or nothing."""
    if found is None:
        for name in (_FILE, _TIMES):
            (folder / name).unlink(missing_ok=True)
        return
    content = {name: value for name, value in asdict(found).items() if name != "costs"}
    write_whole(folder / _FILE, json.dumps(content, ensure_ascii=False) + "\n")
    write_whole(folder / _TIMES, csv_text(found.costs, _COST_COLUMNS))


def read_figures(folder: Path) -> FigureResults | None:
    """What write_figures wrote, if it did."""
    if not (folder / _FILE).exists():
        return None
    content = json.loads((folder / _FILE).read_text(encoding="utf-8"))
    return FigureResults(**content, costs=read_table(folder / _TIMES))
