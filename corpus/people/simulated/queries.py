"""What does every event type? The words of all queries, popular and own, for each length."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import polars as pl

from shoal.corpus.columns import below
from shoal.corpus.people.simulated.interests import draw_anchors
from shoal.corpus.people.simulated.passages import Passages
from shoal.corpus.people.simulated.people import People
from shoal.corpus.people.simulated.phrases import LONGEST, Anchors, Taken, fresh_phrases
from shoal.corpus.people.simulated.popular import draw_popular, popular_anchors
from shoal.corpus.people.simulated.query_kinds import CLASSES, draw_words, new_at_rate, rate_for, repeated
from shoal.corpus.people.simulated.web_queries import Borrowed, lend
from shoal.corpus.progress import Meter, Progress

_CHUNK = 100_000
_STAY = 6  # of ten own queries start where their session started, so that they refine one another
_ELSEWHERE = 1 << 40  # numbers of popular queries, apart from those of events


@dataclass(frozen=True)
class Vocabulary:
    """Queries as columns: the text, the word that tells it, and where it starts (-1 for popular ones)."""

    text: pl.Series
    word: np.ndarray  # int32
    position: np.ndarray  # int32

    def __len__(self) -> int:
        return len(self.word)


def draw_queries(
    people: People, passages: Passages, borrowed: Borrowed | None, seed: int, progress: Progress
) -> tuple[np.ndarray, Vocabulary]:
    """The query of each event, and the queries."""
    query = np.empty(len(people.time), dtype=np.int32)
    parts: list[Vocabulary] = []
    user = people.user
    meter = Meter(progress, int(people.plan.distinct.sum()), "queries")
    taken = [Taken() for _ in range(LONGEST + 1)]
    for length_class in range(CLASSES):
        rng = np.random.default_rng([seed, 2, length_class])
        of_class = people.length_class == length_class
        events = np.flatnonzero(of_class & ~people.own)
        popular = draw_popular(people, events, user[events], length_class, passages.topics, meter, rng)
        query[events] = sum(map(len, parts)) + popular.query
        parts.append(_popular(popular.size, length_class, passages, taken, meter, rng))
        events = np.flatnonzero(of_class & people.own)
        wanted = people.plan.distinct[length_class] - popular.typed
        new = new_at_rate(user[events], rate_for(user[events], wanted), rng)
        query[events] = sum(map(len, parts)) + repeated(user[events], new, rng)
        parts.append(_own(people, events[new], user[events[new]], length_class, passages, borrowed, taken, meter, rng))
    meter.finish()
    return query, _joined(parts)


def _popular(
    size: np.ndarray, length_class: int, passages: Passages, taken: list[Taken], meter: Meter, rng: np.random.Generator
) -> Vocabulary:
    words = draw_words(length_class, int(size.sum()), rng)
    anchors = popular_anchors(passages, size, length_class + 1, _ELSEWHERE, rng)
    found = _write(anchors, words, passages, taken, meter, slips=False)
    return Vocabulary(found.text, found.word, np.full(len(found), -1, dtype=np.int32))


def _own(
    people: People,
    events: np.ndarray,
    user: np.ndarray,
    length_class: int,
    passages: Passages,
    borrowed: Borrowed | None,
    taken: list[Taken],
    meter: Meter,
    rng: np.random.Generator,
) -> Vocabulary:
    words = draw_words(length_class, len(events), rng)
    anchors = _own_anchors(people, events, user, passages, rng)
    found = _write(anchors, words, passages, taken, meter, slips=True)
    if borrowed is None:
        return found
    rows, theirs = lend(borrowed, anchors.topic, length_class)
    found.word[rows], found.position[rows] = borrowed.word[theirs], -1
    return Vocabulary(found.text.scatter(rows, borrowed.text.gather(theirs)), found.word, found.position)


def _own_anchors(
    people: People, events: np.ndarray, user: np.ndarray, passages: Passages, rng: np.random.Generator
) -> Anchors:
    """Where these events' queries start: where the session does, or elsewhere in the same interest."""
    session = people.session[events].astype(np.int64)
    place = people.session_place[session].astype(np.int64)
    elsewhere = draw_anchors(people.interests, user, place, passages, rng)
    own = 1 + len(people.session_topic) + events
    stays = below(10, own) < _STAY
    return Anchors(
        position=np.where(stays, people.session_anchor[session], elsewhere).astype(np.int64),
        topic=people.session_topic[session].astype(np.int64),
        token=np.where(stays, 1 + session, own),
        own=own,
    )


def _write(
    anchors: Anchors, words: np.ndarray, passages: Passages, taken: list[Taken], meter: Meter, slips: bool
) -> Vocabulary:
    """A query for each anchor, with this many words, in the order of the anchors."""
    texts, rows = [pl.Series("query", [], dtype=pl.String)], [np.empty(0, dtype=np.int64)]
    word = np.zeros(len(words), dtype=np.int32)
    for length, which in _chunks(words):
        phrases = fresh_phrases(passages, anchors.rows(which), length, taken[length], slips)
        texts.append(phrases.texts(passages))
        rows.append(which)
        word[which] = phrases.words[:, 0]
        meter.advance(len(which))
    place = np.argsort(np.concatenate(rows), kind="stable")
    return Vocabulary(pl.concat(texts).gather(place), word, anchors.position.astype(np.int32))


def _chunks(words: np.ndarray) -> Iterator[tuple[int, np.ndarray]]:
    """The rows of each number of words, some at a time."""
    for length in np.unique(words).tolist():
        rows = np.flatnonzero(words == length)
        for low in range(0, len(rows), _CHUNK):
            yield length, rows[low : low + _CHUNK]


def _joined(parts: list[Vocabulary]) -> Vocabulary:
    return Vocabulary(
        pl.concat([part.text for part in parts]),
        np.concatenate([part.word for part in parts]),
        np.concatenate([part.position for part in parts]),
    )
