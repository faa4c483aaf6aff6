"""What did an earlier run find? The results as its folder holds them."""

import csv
import json
from pathlib import Path

from corpus.errors import InputError
from evaluation.results import Results, Row


def read_results(folder: Path) -> Results:
    """What write_results wrote. The costs are those of the run that measured them."""
    try:
        content = json.loads((folder / "results.json").read_text(encoding="utf-8"))
        return Results(**content, costs=_costs(folder / "timings.csv"))
    except (OSError, ValueError, TypeError) as error:
        raise InputError(f"{folder} holds no results that can be read: run `shoal evaluate --out {folder}`") from error


def _costs(path: Path) -> list[Row]:
    if not path.exists():
        return []
    with path.open(encoding="utf-8", newline="") as file:
        return [
            {"method": row["method"], "params": row["params"], **{n: float(row[n]) for n in ("seconds", "peak_mb")}}
            for row in csv.DictReader(file)
        ]
