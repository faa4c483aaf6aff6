"""What came out? One row per method and setting, how it compares with the controls, and the files that say so.

Where do results come from? Version, digests, seeds and the command that makes them again; and how to cite them.
"""

import csv
import io
import json
import os
import shlex
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np

from shoal.anonymizer.manifest import digests_of, file_digest
from shoal.anonymizer.registry import find_method
from shoal.corpus.errors import InputError
from shoal.corpus.version import VERSION
from shoal.evaluation.experiment import Experiment
from shoal.evaluation.experiment.settings import Setting, written
from shoal.evaluation.measures.base import CostMeasure
from shoal.evaluation.measures.registry import columns, columns_of
from shoal.evaluation.protocol.workload import Workload
from shoal.evaluation.run.cache import code_digest, read_arrays, write_arrays

Row = dict[str, Any]
_TIMED = ("timings.csv", "growth.csv")  # differ from run to run


@dataclass(frozen=True)
class Results:
    """All that an experiment found. Only `costs` differ from run to run."""

    experiment: dict[str, Any]
    data: dict[str, Any]  # what was measured on: users, events, what was left out
    rows: list[Row]
    answers: list[Row]  # who is best at each of some risks
    comparisons: list[Row]
    losers: list[Row]
    failures: list[Row]
    costs: list[Row]
    target: list[Row]
    provenance: dict[str, Any]  # version, command, seeds and digests
    besides: list[Row] = field(default_factory=list)  # rows of what was measured to compare with, and not asked for
    people: dict[str, np.ndarray] = field(default_factory=dict)  # what each person got, as people.npz holds it


def by_method(rows: Iterable[Row]) -> dict[str, list[Row]]:
    """The rows of each method, in the order in which they come."""
    found: dict[str, list[Row]] = {}
    for row in rows:
        found.setdefault(row["method"], []).append(row)
    return found


def columns_in(rows: Sequence[Row]) -> list[str]:
    """The columns that some row has: method and setting, the measures in their order, then why a setting failed."""
    there = {name for row in rows for name in row}
    first = [name for name in ("method", "params", *columns()) if name in there]
    return first + sorted(there.difference(first))


def write_results(folder: Path, results: Results, timings: bool = False) -> None:
    """results.csv, results.json, comparisons.csv, people.npz, provenance.json, timings.csv; target.csv for a risk."""
    folder.mkdir(parents=True, exist_ok=True)
    costs = {(row["method"], row["params"]): row for row in results.costs}
    rows = [{**row, **_cost(costs, row)} for row in results.rows] if timings else results.rows
    tables = {"results": rows, "comparisons": results.comparisons, "timings": results.costs, "target": results.target}
    for name, table in tables.items():
        if table:
            write_whole(folder / f"{name}.csv", csv_text(table, _order(name, table)))
    write_whole(folder / "results.json", json.dumps(told(results), indent=1, ensure_ascii=False) + "\n")
    if results.people:
        write_arrays(folder / "people.npz", **results.people)
    files = {path.name: file_digest(path) for path in sorted(folder.glob("*.csv")) if path.name not in _TIMED}
    write_whole(folder / "provenance.json", json.dumps(results.provenance | {"files": files}, indent=1) + "\n")


def told(results: Results) -> dict[str, Any]:
    """The results as data, without what differs from run to run and without what is of one person."""
    names = [field.name for field in fields(results) if field.name not in ("costs", "people")]
    return {name: getattr(results, name) for name in names}


def _cost(costs: Mapping[tuple[str, str], Row], row: Row) -> Row:
    cost = costs[row["method"], row["params"]]
    return {name: cost[name] for name in columns_of(CostMeasure)}


def _order(name: str, table: Sequence[Row]) -> list[str]:
    return columns_in(table) if name == "results" else list(dict.fromkeys(key for row in table for key in row))


def csv_text(rows: Sequence[Row], columns: Sequence[str]) -> str:
    text = io.StringIO()
    writer = csv.DictWriter(text, columns, restval="", lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()


def write_whole(path: Path, text: str) -> None:
    """A text file that is there whole or not at all."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    temporary.write_text(text, encoding="utf-8")
    os.replace(temporary, path)


def rounded(value: float, digits: int = 6) -> float:
    """A few digits: what is written must not depend on the order in which a machine adds. Counts stay as they are."""
    return value if isinstance(value, int) else float(f"{value:.{digits}g}")


def read_results(folder: Path) -> Results:
    """What write_results wrote. Costs are of the run that measured them."""
    try:
        content = json.loads((folder / "results.json").read_text(encoding="utf-8"))
        people = read_arrays(folder / "people.npz") or {}
        return Results(**content, costs=read_table(folder / "timings.csv"), people=people)
    except (OSError, ValueError, TypeError) as error:
        raise InputError(f"{folder} holds no results that can be read: run `shoal evaluate --out {folder}`") from error


def read_growth(folder: Path) -> list[Row]:
    """The times of parts of the log, if there are any."""
    return read_table(folder / "growth.csv")


def read_table(path: Path) -> list[Row]:
    """The rows of a file of times, if there is one."""
    if not path.exists():
        return []
    with path.open(encoding="utf-8", newline="") as file:
        return [{name: _value(name, value) for name, value in row.items()} for row in csv.DictReader(file)]


def _value(name: str, text: str) -> str | float:
    if name in ("setup", "method", "params"):
        return text
    return int(text) if name == "users" else float(text)


LAYERS = ("corpus", "search", "anonymizer", "evaluation")


def provenance(experiment: Experiment, workload: Workload, risk: str = "") -> dict[str, Any]:
    """All that the results depend on. Where they were written, and by how many processes, changes nothing in them."""
    sensitive = any(find_method(setting.method).info.sensitive for setting in experiment.settings)
    known = digests_of(experiment.knowledge(), sensitive)
    return {
        "version": VERSION,
        "command": command(experiment, risk),
        "seeds": list(experiment.seeds),
        "digests": dict(workload.digests) | known | {"code": code_digest(*LAYERS)},
    }


def command(experiment: Experiment, risk: str = "") -> str:
    """The command line that makes the results again, the same for an experiment from a file and from options."""
    given: dict[str, object] = {
        "corpus": Path(experiment.corpus).name,
        "log": Path(experiment.log).name,
        "methods": methods_text(experiment.settings),
        "seed": ",".join(map(str, experiment.seeds)),
        "queries": experiment.queries,
        "victims": experiment.victims,
        "measures": ",".join(experiment.measures),
        "engine": "" if experiment.engine == "auto" else experiment.engine,
        "taxonomy": Path(experiment.taxonomy).name,
        "directory": Path(experiment.directory).name,
        "sensitive": Path(experiment.sensitive).name,
        "dictionary": experiment.dictionary,
        "risk": risk,
    }
    words = [word for name, value in given.items() if value != "" for word in (f"--{name}", str(value))]
    return shlex.join(["shoal", "evaluate", *words, *(["--strict"] if experiment.strict else [])])


def methods_text(settings: Sequence[Setting]) -> str:
    """Settings as --methods takes them; neighbours that differ in their one named parameter are one list."""
    parts = []
    for (method, named), same in groupby(settings, key=lambda setting: (setting.method, setting.named)):
        rows = [[written(setting.value(name)) for name in named] for setting in same]
        if len(named) == 1:
            rows = [[",".join(row[0] for row in rows)]]
        parts += [":".join([method, *(f"{n}={v}" for n, v in zip(named, row, strict=True))]) for row in rows]
    return ";".join(parts)


def bibtex(made: dict[str, Any]) -> str:
    """An entry for the program and the very results, which their digests name."""
    digests = made["digests"]
    about = ", ".join(f"{name} {digests[name][:12]}" for name in ("log", "corpus", "code") if name in digests)
    return (
        "@software{shoal,\n"
        "  title = {Shoal: search personalized by groups, and what each way of grouping costs and protects},\n"
        "  author = {{The maintainers of Shoal}},\n"
        f"  version = {{{made['version']}}},\n"
        f"  note = {{Results of {about}; seeds {', '.join(map(str, made['seeds']))}}},\n"
        "}"
    )
