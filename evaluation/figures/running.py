"""How are the papers' figures measured? Every set-up with the settings and columns that its figures need.

In which set-up did a paper draw its figures? Logs made from many people as the papers made theirs from AOL's.
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path

import numpy as np
import polars as pl
from scipy.special import stdtrit

from shoal.corpus.documents import load_documents
from shoal.corpus.errors import InputError
from shoal.corpus.knowledge import Knowledge
from shoal.corpus.people.simulated import simulate_log
from shoal.corpus.profiles import Profiles, build_profiles, query_term_counts
from shoal.corpus.progress import Progress, silent
from shoal.corpus.querylog import QueryLog, make_log
from shoal.evaluation.experiment import Experiment
from shoal.evaluation.experiment.settings import Setting, distinct
from shoal.evaluation.figures import Figure, all_figures
from shoal.evaluation.measures.base import RankingMeasure
from shoal.evaluation.measures.registry import columns_of
from shoal.evaluation.protocol.workload import searched, unsearched
from shoal.evaluation.run.cells import Cell, Laboratory
from shoal.evaluation.run.outcomes import Run
from shoal.evaluation.run.results import Row, csv_text, read_table, rounded, write_whole
from shoal.evaluation.run.workers import run_all
from shoal.evaluation.statistics import intervals

PEOPLE = 60_000  # from whom every set-up takes its users: 53,058 have a profile, 720 have 150 terms and more


@dataclass(frozen=True, eq=False)
class Draw:
    """One log of a set-up: what profiles are made from, and what the same users asked later, if that is needed."""

    log: QueryLog
    later: QueryLog | None = None


@dataclass(frozen=True)
class Setup:
    """How a paper's data were made, and how ours are. Every point is a mean over draws and seeds."""

    id: str
    title: str  # what tells its panel from others
    paper: str  # the paper's data
    ours: str  # what was made the same, and what not
    users: int
    make: Callable[["People", "Setup"], Iterator[Draw]]
    draws: int = 1
    seeds: tuple[int, ...] = (0,)
    full: bool = False  # run only where all sizes are asked for


class People:
    """Many users of one log, and the terms that each of them used."""

    def __init__(self, log: QueryLog, knowledge: Knowledge, told: str) -> None:
        self.log = log
        self.knowledge = knowledge
        self.told = told  # who they are
        self.profiles: Profiles = build_profiles(log, knowledge.words)

    def with_profile(self) -> np.ndarray:
        return np.flatnonzero(self.profiles.size > 0)

    def some(self, setup: Setup) -> Iterator[np.ndarray]:
        """Different users for each draw, in the order of the log."""
        users = self.with_profile()
        if len(users) < setup.users:
            raise InputError(f"{setup.title} needs {setup.users:,} users with a profile, there are {len(users):,}")
        for draw in range(min(setup.draws, len(users) // setup.users)):
            yield users[draw * setup.users : (draw + 1) * setup.users]


def as_typed(people: People, setup: Setup) -> Iterator[Draw]:
    """The logs of so many users as they are."""
    for users in people.some(setup):
        yield Draw(people.log.for_users(users).compacted())


def distinct_terms(people: People, setup: Setup) -> Iterator[Draw]:
    """Each user's queries merged into one transaction, duplicate items removed (the thesis, 6.1.1)."""
    for users in people.some(setup):
        rows = (people.profiles.of(user) for user in users.tolist())
        yield Draw(make_log(people.log.users.gather(users), pl.Series([" ".join(row) for row in rows])))


def first_terms(people: People, setup: Setup, terms: int = 150) -> Iterator[Draw]:
    """Users who asked something after their first 150 distinct terms; each of those terms has weight 1."""
    names: list[int] = []
    texts: list[str] = []
    later = np.zeros(len(people.log), dtype=bool)
    vocabulary, holds = query_term_counts(people.log, people.knowledge.words)
    for user in np.flatnonzero(people.profiles.size >= terms).tolist():
        if len(names) == setup.users:
            break
        events = np.arange(people.log.start[user], people.log.start[user + 1])
        typed = holds[people.log.query[events]]
        event = np.repeat(np.arange(len(events)), np.diff(typed.indptr))
        _, first = np.unique(typed.indices, return_index=True)
        place = np.sort(first)[terms - 1]
        if event[place] + 1 < len(events):
            later[events[event[place] + 1 :]] = True
            names.append(user)
            texts.append(" ".join(vocabulary[t] for t in typed.indices[np.sort(first)[:terms]]))
    users = people.log.users.gather(names)
    yield Draw(make_log(users, pl.Series(texts)), people.log.select(later).for_users(np.array(names)).compacted())


def density(log: QueryLog, knowledge: Knowledge) -> float:
    """N_total / (|D| * |L|): the share of the taxonomy's leaves that a transaction holds, in the mean (Table 6.1)."""
    profiles = build_profiles(log, knowledge.words)
    return float(profiles.size.sum()) / (len(profiles) * int(knowledge.taxonomy.leaves[0]))


def _thesis(users: int, draws: int, full: bool = False) -> Setup:
    return Setup(
        id=f"thesis-{users}",
        title=f"|D| = {users:,}",
        paper="the first |D| of AOL's users, all queries of a user merged and duplicate items removed; "
        "WordNet's nouns by their first sense",
        ours="made the same way",
        users=users,
        make=distinct_terms,
        draws=draws,
        full=full,
    )


_as_typed = partial(Setup, make=as_typed, draws=5)

SETUPS = (
    Setup(
        id="zhu-xiong",
        title="720 users with 150 terms",
        paper="720 of AOL's users with 150 terms each, every term with weight 1, over TIPSTER",
        ours="users who typed 150 distinct terms and something later: the first 150 with weight 1, tested by up to 5 "
        "of the later queries each",
        users=720,
        make=first_terms,
        seeds=(0, 1, 2, 3, 4),
    ),
    _thesis(1_000, 5),
    _thesis(10_000, 3),
    _thesis(53_058, 1, full=True),
    _as_typed(
        id="ssc",
        title="1,000 users",
        paper="vocabularies of AOL's log with WordNet; how many, and over which k, only its technical report tells",
        ours="all their terms as bags",
        users=1_000,
    ),
    _as_typed(
        id="affinity",
        title="2,000 users",
        paper="5,000 random queries, ten times, in the log of AOL's 650,000 users",
        ours="all their queries, of which fewer are repeated than in a larger log, so that less is released",
        users=2_000,
    ),
    _as_typed(
        id="erola",
        title="1,000 users",
        paper="1,000 random users of AOL with 55,666 lines, classified by the Open Directory",
        ours="classified by the senses of WordNet, since the Open Directory is no more",
        users=1_000,
    ),
)


def setups(full: bool = True) -> list[Setup]:
    """In the order of the papers; `full` are those of all sizes."""
    return [setup for setup in SETUPS if full or not setup.full]


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
