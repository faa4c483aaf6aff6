"""A log of simulated users: who they are, what they typed and clicked; made, written in AOL's format, and kept.

What does a person click? Documents that hold the query's telling word and fit the interest of the session.
"""

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
from shoal.corpus.people.simulated.passages import Passages, read_passages
from shoal.corpus.people.simulated.people import People, draw_people
from shoal.corpus.people.simulated.queries import Vocabulary, draw_queries
from shoal.corpus.people.simulated.web_queries import borrow
from shoal.corpus.progress import Progress, silent
from shoal.corpus.querylog import QueryLog, factorize, log_from_codes

_CLICKED = 0.5  # of the queries
_AGAIN = 0.2  # of the clicked ones get a second click
_SOURCE = 0.5  # of the clicks on an own query go to the document that its words come from
_SHOWN = 10
_RANKS = np.cumsum(1 / np.arange(1.0, _SHOWN + 1)) / (1 / np.arange(1.0, _SHOWN + 1)).sum()


@dataclass(frozen=True)
class Clicks:
    """Clicks as columns, sorted by event."""

    event: np.ndarray  # int64
    rank: np.ndarray  # int16, from 1
    document: np.ndarray  # int32, a row of the corpus


def draw_clicks(
    people: People, query: np.ndarray, queries: Vocabulary, passages: Passages, seed: int, progress: Progress
) -> Clicks:
    """The clicks of all events, block by block."""
    index = _Index(passages)
    blocks = []
    for low in range(0, len(query), _BLOCK):
        progress(low, len(query), "clicks")
        rng = np.random.default_rng([seed, 3, low // _BLOCK])
        events = np.arange(low, min(low + _BLOCK, len(query)))
        blocks.append(_draw_block(events, people, query, queries, index, rng))
    progress(len(query), len(query), "clicks")
    return Clicks(
        np.concatenate([block.event for block in blocks]),
        np.concatenate([block.rank for block in blocks]),
        np.concatenate([block.document for block in blocks]),
    )


class _Index:
    """Where each word stands in each topic."""

    def __init__(self, passages: Passages) -> None:
        self._words = len(passages.words)
        topic = passages.document_topic[passages.document]
        key = topic * self._words + passages.word
        order = np.argsort(key, kind="stable")
        self._key, self._document = key[order], passages.document[order]
        self.document, self.document_topic = passages.document, passages.document_topic

    def find(self, topic: np.ndarray, word: np.ndarray, chance: np.ndarray) -> np.ndarray:
        """A document of the topic that holds the word, -1 where there is none."""
        wanted = topic * self._words + word
        low, high = (np.searchsorted(self._key, wanted, side=side) for side in ("left", "right"))
        place = low + np.floor(chance * (high - low)).astype(np.int64)
        return np.where(high > low, self._document[np.minimum(place, len(self._document) - 1)], -1)


def _draw_block(
    events: np.ndarray, people: People, query: np.ndarray, queries: Vocabulary, index: _Index, rng: np.random.Generator
) -> Clicks:
    first = events[rng.random(len(events)) < _CLICKED]
    second = first[rng.random(len(first)) < _AGAIN]
    event = np.sort(np.concatenate([first, second]))
    typed = query[event]
    source = index.document[np.maximum(queries.position[typed], 0)]
    own = queries.position[typed] >= 0
    topic = people.session_topic[people.session[event]].astype(np.int64)
    topic = np.where(own, index.document_topic[source], topic)  # an old query repeated is still about its topic
    found = index.find(topic, queries.word[typed].astype(np.int64), rng.random(len(event)))
    document = np.where(own & (rng.random(len(event)) < _SOURCE), source, found)
    rank = 1 + np.searchsorted(_RANKS[:-1], rng.random(len(event)), side="right")
    # Two clicks on one answer are on two documents: the second is dropped where chance made them the same.
    again = np.zeros(len(event), dtype=bool)
    again[1:] = (event[1:] == event[:-1]) & ((document[1:] == document[:-1]) | (rank[1:] == rank[:-1]))
    kept = (document >= 0) & ~again
    return Clicks(event[kept], rank[kept].astype(np.int16), document[kept].astype(np.int32))


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
