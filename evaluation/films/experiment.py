"""What serves people best, by what they liked later? Every setting on every split, the same people compared."""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

from shoal.corpus.errors import InputError
from shoal.corpus.knowledge import Knowledge
from shoal.corpus.people.films import Ratings, load_ratings
from shoal.corpus.progress import Progress, silent
from shoal.evaluation.experiment import Experiment
from shoal.evaluation.experiment.settings import Setting, parse_methods
from shoal.evaluation.films.workload import DESIGNS, PER_PERSON, Design, catalogue_file, make_workload
from shoal.evaluation.measures.base import RankingMeasure
from shoal.evaluation.measures.precision import DEVICE
from shoal.evaluation.measures.registry import measures_of
from shoal.evaluation.run.cells import Cell, Laboratory
from shoal.evaluation.run.matched_risk import RISK
from shoal.evaluation.run.outcomes import with_controls
from shoal.evaluation.run.results import Row, csv_text, rounded, write_whole
from shoal.evaluation.run.workers import cores, run_all
from shoal.evaluation.statistics import Estimate, compare, intervals
from shoal.search.index import index_for

DEFAULT_SEEDS = (0, 1, 2)
DEFAULT_METHODS = (
    "plain;everyone;original;random:k=2,5,20;linkability:p=1,0.4,0.2;microaggregation:k=2,5,12;ssc:k=2,5;clump:k=2,5;"
    "partition:k=2,5;affinity:k=5,50;equality:k=5,50;wordnet-queries:k=5,50;floc:k=5;common:k=5:t=3;common:k=10:t=4;"
    "murmur:menu=20,5"
)
CHECK_METHODS = "plain;everyone;original;random:k=5;linkability:p=1,0.4;microaggregation:k=2,5"
AGAINST = ("plain", "everyone", "original")


@dataclass(frozen=True)
class FilmResults:
    """One row per design and setting, and each setting against the controls."""

    data: Row
    rows: list[Row]
    comparisons: list[Row]
    failures: list[Row]


@dataclass(frozen=True, eq=False)
class _Measured:
    """A setting's scores, people x seeds (NaN where a person has no query), and what attacks on it gave."""

    setting: Setting
    scores: dict[str, np.ndarray]
    linkage: float | None
    failure: str

    def per_person(self, name: str, people: np.ndarray) -> np.ndarray:
        return np.asarray(np.nanmean(self.scores[name][people], axis=1))


def run_films(
    folder: Path,
    settings: Sequence[Setting] = (),
    seeds: Sequence[int] = DEFAULT_SEEDS,
    jobs: int = 0,
    progress: Progress = silent,
    ratings: Ratings | None = None,
) -> FilmResults:
    """Measure the settings (all methods, if none are given) on every design. `folder` keeps what is finished."""
    ratings = load_ratings(progress) if ratings is None else ratings
    rows, comparisons, failures = [], [], []
    data: Row = {"people": len(ratings.people), "ratings": len(ratings), "seeds": list(seeds), "designs": {}}
    for design in DESIGNS:
        wanted = with_controls(settings or parse_methods(DEFAULT_METHODS if design == "held out" else CHECK_METHODS))
        measured, told = _measure(ratings, design, wanted, seeds, folder, jobs or cores(), progress)
        data["designs"][design] = told
        found = _summarized(design, measured)
        rows += found.rows
        comparisons += found.comparisons
        failures += found.failures
    return FilmResults(data, rows, comparisons, failures)


def _measure(
    ratings: Ratings,
    design: Design,
    settings: Sequence[Setting],
    seeds: Sequence[int],
    folder: Path,
    jobs: int,
    progress: Progress,
) -> tuple[list[_Measured], Row]:
    corpus = str(catalogue_file(ratings))
    index = index_for(corpus, progress=progress)
    shape = (len(ratings.people), len(seeds))
    scores = [{name: np.full(shape, np.nan) for name in _scores()} for _ in settings]
    cells: list[list[Cell]] = [[] for _ in settings]
    queries = []
    for column, seed in enumerate(seeds):
        workload = make_workload(ratings, index, Knowledge(), design, seed, progress)
        queries.append(len(workload.queries))
        laboratory = Laboratory(_experiment(corpus, settings, seed), workload, folder / "cells")
        done = run_all(laboratory, [(setting, seed) for setting in settings], jobs, progress)
        people = _people(ratings, workload.train.users.gather(workload.users).to_list())
        for i, setting in enumerate(settings):
            cells[i].append(done[setting, seed])
            for name, values in done[setting, seed].scores.items():
                scores[i][name][people, column] = values
    index.close()
    made = [_Measured(s, scores[i], _mean_linkage(cells[i]), _failure(cells[i])) for i, s in enumerate(settings)]
    return made, {"queries": queries, "per_person": PER_PERSON}


def _scores() -> list[str]:
    return [measure.name for measure in measures_of(RankingMeasure)]


def _experiment(corpus: str, settings: Sequence[Setting], seed: int) -> Experiment:
    return Experiment(corpus, "films", tuple(settings), seeds=(seed,), queries=PER_PERSON)


def _people(ratings: Ratings, names: list[str]) -> np.ndarray:
    row_of = {name: row for row, name in enumerate(ratings.people.ids)}
    return np.array([row_of[name] for name in names], dtype=np.int64)


def _mean_linkage(cells: Sequence[Cell]) -> float | None:
    found = [cell.measured.values[RISK] for cell in cells if RISK in cell.measured.values]
    return float(np.mean(found)) if found else None


def _failure(cells: Sequence[Cell]) -> str:
    return next((cell.failure for cell in cells if cell.failure), "")


def _summarized(design: str, measured: Sequence[_Measured]) -> FilmResults:
    """Means over people, of each person's mean over seeds; intervals and tests over people. What failed is blank."""
    good = [m for m in measured if not m.failure]
    people = np.flatnonzero(~np.isnan(good[0].scores["ap10"]).all(axis=1))
    values = np.stack([m.per_person("ap10", people) for m in good])
    by_name = {m.setting.method: value for m, value in zip(good, values, strict=True)}
    plain, own = by_name["plain"].mean(), by_name["original"].mean()
    rows = []
    for m, value, (low, high) in zip(good, values, intervals(values), strict=True):
        row = _named(design, m) | {"people": len(people), "ap10_low": rounded(low), "ap10_high": rounded(high)}
        row |= {name: rounded(float(m.per_person(name, people).mean())) for name in _scores()}
        row["help_kept"] = rounded(float((value.mean() - plain) / (own - plain))) if own > plain else None
        row[RISK] = None if m.linkage is None else rounded(m.linkage)
        rows.append(row)
    failures = [_named(design, m) | {"reason": m.failure} for m in measured if m.failure]
    return FilmResults({}, rows, _comparisons(design, good, values, by_name), failures)


def _named(design: str, measured: _Measured) -> Row:
    return {"design": design, "method": measured.setting.method, "params": measured.setting.params}


def _comparisons(
    design: str, measured: Sequence[_Measured], values: np.ndarray, by_name: dict[str, np.ndarray]
) -> list[Row]:
    """Each setting against the controls, each pair of controls once."""
    pairs = [(i, name) for i, m in enumerate(measured) for name in AGAINST if _is_new(m.setting.method, name)]
    found = compare([Estimate(values[i] - by_name[name]) for i, name in pairs])
    return [
        _named(design, measured[i])
        | {"against": name}
        | {key: None if value is None else rounded(value) for key, value in asdict(paired).items()}
        for (i, name), paired in zip(pairs, found, strict=True)
    ]


def _is_new(method: str, control: str) -> bool:
    """Whether the pair is not there yet: of two controls the later one is compared; a device ranks as `original`."""
    if method not in AGAINST:
        return method != DEVICE
    return AGAINST.index(method) > AGAINST.index(control)


def write_films(folder: Path, results: FilmResults) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    columns = list(dict.fromkeys(name for row in results.rows for name in row))
    write_whole(folder / "films.csv", csv_text(results.rows, columns))
    write_whole(folder / "films.json", json.dumps(asdict(results), indent=1, ensure_ascii=False) + "\n")


def read_films(folder: Path) -> FilmResults | None:
    """What an earlier run found; None where there was none."""
    path = folder / "films.json"
    if not path.exists():
        return None
    try:
        return FilmResults(**json.loads(path.read_text(encoding="utf-8")))
    except (ValueError, TypeError) as error:
        raise InputError(f"{path} cannot be read: remove it, or run `shoal evaluate --films --out {folder}`") from error
