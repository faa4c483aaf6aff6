"""Which log is meant, and who are its people? Files of any shape, a folder, a frame, or a data set's log."""

from collections.abc import Iterator
from glob import glob, has_magic
from pathlib import Path
from typing import Any

from shoal.corpus.errors import InputError
from shoal.corpus.logs.aol import (
    FOUND,
    Encoder,
    LogFormat,
    nothing_read,
    read_log,
    read_people,
    refuse_first,
    understood,
)
from shoal.corpus.logs.columns import need_columns, parse_columns
from shoal.corpus.logs.rows import Rejected, joined
from shoal.corpus.logs.tables import BATCH_ROWS, as_frame, parse_frame
from shoal.corpus.progress import Progress, silent
from shoal.corpus.querylog import PEOPLE, PeopleKind, QueryLog
from shoal.corpus.store.datasets import CORPORA
from shoal.corpus.store.fetch import data_set
from shoal.corpus.store.folders import cache_folder
from shoal.corpus.store.ir_datasets import is_ir_dataset, log_file

__all__ = ["LogFormat", "Rejected", "default_log", "files_of", "load_log", "log_format", "log_of_frame", "people_of"]

_ENDINGS = (".tsv", ".csv", ".txt", ".psv", ".log", ".jsonl", ".ndjson", ".json", ".parquet", ".pq")
_PACKED = (".gz", ".zst")
_SIMULATED_VERSION = 2  # of what default_log leaves in the cache; raise it when the same seed gives another file


def load_log(
    name_or_path: str, *, format: LogFormat = FOUND, strict: bool = False, progress: Progress = silent
) -> tuple[QueryLog, Rejected]:
    """The log of that name or path, and the rows that could not be read."""
    return read_log(files_of(name_or_path, progress), format=format, strict=strict, progress=progress)


def log_format(columns: str, encoding: str) -> LogFormat:
    """What the options --columns and --encoding say."""
    return LogFormat(parse_columns(columns), encoding)


def log_of_frame(data: Any, format: LogFormat = FOUND, strict: bool = False) -> tuple[QueryLog, Rejected]:
    """The log in a frame of pandas, polars or Arrow, or in a list of tuples; and its rows that could not be read."""
    frame = as_frame(data)
    columns = need_columns(frame.columns, format.columns or {}, "the frame")
    encoder, parts = Encoder(), []
    for start in range(0, len(frame), BATCH_ROWS):
        good, bad = parse_frame(frame.slice(start, BATCH_ROWS), columns, "the frame", start + 1)
        encoder.add(encoder.coded(good))
        refuse_first(bad, "the frame, row", strict)
        parts.append(bad)
    apart = joined(parts, f"a frame; {columns}")
    if not encoder.rows:
        raise InputError(nothing_read("the frame", apart))
    return understood(encoder.log(columns.people), apart)


def people_of(name_or_path: str, progress: Progress = silent, format: LogFormat = FOUND) -> PeopleKind:
    """Whether the people of a log are simulated, public or real, without reading it."""
    return max((read_people(path, format) for path in files_of(name_or_path, progress)), key=PEOPLE.index)


def files_of(name_or_path: str, progress: Progress = silent) -> list[Path]:
    """The files of a log: one, all of a folder or a pattern, several with commas between; or a data set's."""
    path = Path(name_or_path)
    if name_or_path in CORPORA and not path.is_file():
        return [_data_set_log(name_or_path, progress)]
    if is_ir_dataset(name_or_path):
        return [log_file(name_or_path, progress)]
    if path.is_dir():
        return _checked(sorted(_logs_in(path)), name_or_path)
    if not path.exists() and has_magic(name_or_path):
        return _checked(sorted(map(Path, glob(name_or_path))), name_or_path)
    parts = [Path(part.strip()) for part in name_or_path.split(",")]
    return parts if not path.exists() and len(parts) > 1 and all(part.is_file() for part in parts) else [path]


def _data_set_log(name: str, progress: Progress) -> Path:
    if name == "films":  # the one data set with people of its own
        from shoal.corpus.people.films import films_log

        return films_log(progress)
    return default_log(name, progress=progress)


def default_log(name: str, users: int = 1_000, progress: Progress = silent) -> Path:
    """The log of simulated users over a data set's documents: made once, then kept. Its name says what it is."""
    version = f"{data_set(name).version}-{_SIMULATED_VERSION}"
    path = cache_folder() / "logs" / f"simulated-users-{name}-{users}-{version}.tsv"
    if not path.is_file():
        from shoal.corpus.documents import load_documents  # what simulates takes a start as long as what reads
        from shoal.corpus.people.simulated import simulate_log, write_log

        log = simulate_log(load_documents(name, progress), users, progress=progress)
        path.parent.mkdir(parents=True, exist_ok=True)
        write_log(log, path, progress)
    return path


def _logs_in(folder: Path) -> Iterator[Path]:
    for path in folder.iterdir():
        plain = path.with_suffix("") if path.suffix in _PACKED else path
        if path.is_file() and not path.name.startswith(".") and plain.suffix.lower() in _ENDINGS:
            yield path


def _checked(found: list[Path], name: str) -> list[Path]:
    if not found:
        raise InputError(f"no log at {name}: no file there ends in {', '.join(_ENDINGS)} (.gz and .zst too)")
    return found
