"""What is a log of simulated users? Who they are, what they typed and clicked, as columns."""

from dataclasses import dataclass

import numpy as np
import polars as pl

from shoal.corpus.documents import Documents
from shoal.corpus.errors import InputError
from shoal.corpus.people.calibration import AOL_QUERIES_PER_USER
from shoal.corpus.people.simulated.borrowed import borrow
from shoal.corpus.people.simulated.clicks import Clicks, draw_clicks
from shoal.corpus.people.simulated.passages import read_passages
from shoal.corpus.people.simulated.people import draw_people
from shoal.corpus.people.simulated.queries import draw_queries
from shoal.corpus.progress import Progress, silent
from shoal.corpus.querylog import QueryLog, log_from_codes

_FIRST_ID = 142  # AOL's smallest; its ids go up to 25 million, about 38 apart
_APART = 38


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
        texts = self.texts.unique(maintain_order=True)
        row = self.texts.replace_strict(texts, np.arange(len(texts), dtype=np.int32), return_dtype=pl.Int32).to_numpy()
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
