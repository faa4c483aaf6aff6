"""What does a person click? Documents that hold the query's telling word and fit the interest of the session."""

from dataclasses import dataclass

import numpy as np

from shoal.corpus.people.simulated.passages import Passages
from shoal.corpus.people.simulated.people import People
from shoal.corpus.people.simulated.queries import Vocabulary
from shoal.corpus.progress import Progress

_BLOCK = 500_000  # events
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
