"""Where are the results of the films kept? films.json and films.csv in the folder of an experiment."""

import json
from dataclasses import asdict
from pathlib import Path

from shoal.corpus.errors import InputError
from shoal.evaluation.films.experiment import FilmResults
from shoal.evaluation.results import csv_text, write_whole


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
