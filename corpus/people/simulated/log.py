"""A log of simulated users: who they are, what they typed and clicked; made, written in AOL's format, and kept."""

import os
import tempfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl

from shoal.corpus.documents import Documents
from shoal.corpus.errors import InputError
from shoal.corpus.logs.aol import heading
from shoal.corpus.people.calibration import AOL_QUERIES_PER_USER
from shoal.corpus.people.simulated.clicks import Clicks, draw_clicks
from shoal.corpus.people.simulated.passages import read_passages
from shoal.corpus.people.simulated.people import draw_people
from shoal.corpus.people.simulated.queries import draw_queries
from shoal.corpus.people.simulated.web_queries import borrow
from shoal.corpus.progress import Progress, silent
from shoal.corpus.querylog import QueryLog, factorize, log_from_codes

_FIRST_ID = 142  # AOL's smallest; its ids go up to 25 million, about 38 apart
_APART = 38
_BLOCK = 500_000  # events


@dataclass(frozen=True)
class SimulatedLog:
    """Simulated users and what they typed and clicked. The events of user u are the rows start[u]:start[u + 1]."""

    users: np.ndarray  # int64: ids like AOL's, ascending
    interests: np.ndarray  # int16, users x 4: topics, -1 for none
    start: np.ndarray  # int64
    query: np.ndarray  # int32 per event: a row of texts
    time: np.ndarray  # int64 per event, epoch seconds, strictly increasing within a user
    texts: pl.Series  # queries; a few may be the same, and some may be typed by nobody
    clicks: Clicks
    documents: pl.Series  # what a click on each document names: its url, or its id
    document_topic: np.ndarray  # -1 where nobody reads the document

    def __len__(self) -> int:
        return len(self.query)

    def typed(self) -> QueryLog:
        """What the users typed, as a log, without their clicks."""
        texts, row = factorize(self.texts)
        user = np.repeat(np.arange(len(self.users), dtype=np.int32), np.diff(self.start))
        names, no_urls = pl.Series(self.users).cast(pl.String), pl.Series([], dtype=pl.String)
        no_click = np.full(len(self), -1, dtype=np.int32)
        return log_from_codes(names, texts, no_urls, user, row[self.query], self.time, no_click, "simulated")


def simulate_log(
    documents: Documents,
    users: int,
    seed: int = 0,
    progress: Progress = silent,
    web_queries: list[str] | None = None,
) -> SimulatedLog:
    """A log with AOL's statistics, by users who are interested in these documents."""
    if users < 1:
        raise InputError(f"{users} simulated users; expected at least 1; give another number")
    passages = read_passages(documents, progress)
    people = draw_people(users, AOL_QUERIES_PER_USER, passages, seed, progress)
    borrowed = borrow(web_queries, passages) if web_queries else None
    query, queries = draw_queries(people, passages, borrowed, seed, progress)
    return SimulatedLog(
        users=_FIRST_ID + np.cumsum(np.random.default_rng([seed, 4]).integers(1, 2 * _APART, users)),
        interests=people.interests.topic,
        start=people.start,
        query=query,
        time=people.time,
        texts=queries.text,
        clicks=draw_clicks(people, query, queries, passages, seed, progress),
        documents=_names(documents),
        document_topic=passages.document_topic,
    )


def _names(documents: Documents) -> pl.Series:
    """The url of each document, or its id where it has none; a blank in it would end the field."""
    url, own = (pl.Series(column).cast(pl.String).fill_null("") for column in (documents.urls, documents.ids))
    return url.zip_with(url != "", own).str.replace_all(r"[\s\"]+", "_")


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
                rows.write_csv(
                    file, separator="\t", include_header=False, quote_style="never", datetime_format="%Y-%m-%d %H:%M:%S"
                )
            file.flush()
            os.fchmod(file.fileno(), 0o644)
            os.replace(file.name, path)
        except BaseException:
            os.unlink(file.name)
            raise
    progress(len(log), len(log), "writing the log")


def _rows(log: SimulatedLog, user: np.ndarray, low: int, high: int) -> pl.DataFrame:
    """The rows of the events low to high: an event with two clicks is two rows."""
    clicks = slice(*np.searchsorted(log.clicks.event, [low, high]))
    clicked = log.clicks.event[clicks]
    times = np.maximum(np.bincount(clicked - low, minlength=high - low), 1)
    event = np.repeat(np.arange(low, high), times)
    silent_event = np.isin(event, clicked, invert=True)
    rank, document = np.full(len(event), -1), np.full(len(event), -1)
    rank[~silent_event], document[~silent_event] = log.clicks.rank[clicks], log.clicks.document[clicks]
    return pl.DataFrame(
        {
            "AnonID": user[event],
            "Query": log.texts.gather(log.query[event]),
            "QueryTime": pl.Series(log.time[event] * 1_000).cast(pl.Datetime("ms")),
            "ItemRank": pl.Series(rank).replace(-1, None),
            "ClickURL": log.documents.gather(pl.Series(document).replace(-1, None)),
        }
    )
