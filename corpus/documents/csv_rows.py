"""How is a table of a data set read? Row by row, as text, without the rows that are broken."""

import csv
import io
from collections.abc import Iterator
from pathlib import Path

from shoal.corpus.progress import Progress

_PROGRESS_EVERY = 500


def read_rows(path: Path, progress: Progress) -> Iterator[dict[str, str]]:
    """The rows of a comma-separated file, by column name. A row with a wrong number of values is left out."""
    size = path.stat().st_size
    with path.open("rb") as raw, io.TextIOWrapper(raw, encoding="utf-8", newline="") as file:
        reader = csv.reader(file)
        header = next(reader)
        for number, values in enumerate(reader):
            if number % _PROGRESS_EVERY == 0:
                progress(min(raw.tell(), size), size, f"reading {path.name}")
            if len(values) == len(header):
                yield dict(zip(header, values, strict=True))
    progress(size, size, f"reading {path.name}")
