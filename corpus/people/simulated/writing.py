"""How is a log of simulated users written in AOL's format, and where is the default one kept?"""

import os
import tempfile
from pathlib import Path

import numpy as np
import polars as pl

from shoal.corpus.documents import load_documents
from shoal.corpus.errors import InputError
from shoal.corpus.logs.aol import heading
from shoal.corpus.people.simulated.log import SimulatedLog, simulate_log
from shoal.corpus.progress import Progress, silent
from shoal.corpus.store.fetch import data_set
from shoal.corpus.store.folders import cache_folder

_BLOCK = 500_000  # events
_VERSION = 2  # of what default_log leaves in the cache; raise it when the same seed gives another file


def write_log(log: SimulatedLog, path: str | Path, progress: Progress = silent) -> None:
    """The log in AOL's format, one row for each click or for each event without one; whole or not at all."""
    path = Path(path)
    if not path.parent.is_dir():
        raise InputError(f"no folder {path.parent} to write the log to; make it first, or give another path")
    with tempfile.NamedTemporaryFile(dir=path.parent, prefix=f".{path.name}.", delete=False) as file:
        try:
            file.write(f"{heading('simulated')}\n".encode())
            user = np.repeat(log.users, np.diff(log.start))
            for low in range(0, len(log), _BLOCK):
                progress(low, len(log), "writing the log")
                rows = _rows(log, user, low, min(low + _BLOCK, len(log)))
                rows.write_csv(file, separator="\t", include_header=False, quote_style="never",
                               datetime_format="%Y-%m-%d %H:%M:%S")  # fmt: skip
            file.flush()
            os.fchmod(file.fileno(), 0o644)
            os.replace(file.name, path)
        except BaseException:
            os.unlink(file.name)
            raise
    progress(len(log), len(log), "writing the log")


def default_log(name: str, users: int = 1_000, progress: Progress = silent) -> Path:
    """The log of simulated users over a data set's documents: made once, then kept. Its name says what it is."""
    version = f"{data_set(name).version}-{_VERSION}"
    path = cache_folder() / "logs" / f"simulated-users-{name}-{users}-{version}.tsv"
    if not path.is_file():
        log = simulate_log(load_documents(name, progress), users, progress=progress)
        path.parent.mkdir(parents=True, exist_ok=True)
        write_log(log, path, progress)
    return path


def _rows(log: SimulatedLog, user: np.ndarray, low: int, high: int) -> pl.DataFrame:
    """The rows of the events low to high: an event with two clicks is two rows."""
    clicks = slice(*np.searchsorted(log.clicks.event, [low, high]))
    clicked = log.clicks.event[clicks]
    times = np.maximum(np.bincount(clicked - low, minlength=high - low), 1)
    event = np.repeat(np.arange(low, high), times)
    silent_event = np.isin(event, clicked, invert=True)
    rank, document = np.full(len(event), -1), np.full(len(event), -1)
    rank[~silent_event], document[~silent_event] = log.clicks.rank[clicks], log.clicks.document[clicks]
    return pl.DataFrame({
        "AnonID": user[event],
        "Query": log.texts.gather(log.query[event]),
        "QueryTime": pl.Series(log.time[event] * 1_000).cast(pl.Datetime("ms")),
        "ItemRank": pl.Series(rank).replace(-1, None),
        "ClickURL": log.documents.gather(pl.Series(document).replace(-1, None)),
    })  # fmt: skip
