"""What did an earlier run find? The results as its folder holds them."""

import csv
import json
from pathlib import Path

from shoal.corpus.errors import InputError
from shoal.evaluation.results import Results, Row


def read_results(folder: Path, name: str = "results") -> Results:
    """What write_results wrote, or the results kept under another name. Costs are of the run that measured them."""
    try:
        content = json.loads((folder / f"{name}.json").read_text(encoding="utf-8"))
        return Results(**content, costs=_table(folder / timings_name(name)))
    except (OSError, ValueError, TypeError) as error:
        raise InputError(f"{folder} holds no results that can be read: run `shoal evaluate --out {folder}`") from error


def timings_name(name: str) -> str:
    """The file of the times that belong to results, apart from them because they differ from run to run."""
    return "timings.csv" if name == "results" else f"{name}-timings.csv"


def read_growth(folder: Path) -> list[Row]:
    """The times of parts of the log, if there are any."""
    return _table(folder / "growth.csv")


def _table(path: Path) -> list[Row]:
    if not path.exists():
        return []
    with path.open(encoding="utf-8", newline="") as file:
        return [{name: _value(name, value) for name, value in row.items()} for row in csv.DictReader(file)]


def _value(name: str, text: str) -> str | float:
    if name in ("method", "params"):
        return text
    return int(text) if name == "users" else float(text)
