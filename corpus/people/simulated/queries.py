"""What does every event type? The popular queries of each topic and of all, and the words of everybody's own."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import polars as pl

from shoal.corpus.columns import below, distinct
from shoal.corpus.people.simulated.passages import Passages
from shoal.corpus.people.simulated.people import (
    CLASSES,
    People,
    draw_anchors,
    draw_words,
    new_at_rate,
    rate_for,
    repeated,
)
from shoal.corpus.people.simulated.phrases import LONGEST, Anchors, Taken, fresh_phrases, phrases_at
from shoal.corpus.people.simulated.web_queries import Borrowed, lend
from shoal.corpus.progress import Meter, Progress

_ZIPF = np.array([0.9, 0.8, 0.6, 0.5, 0.4])  # of the popularity of queries, per class: long ones are hardly ever hits
_EVERYBODYS = np.array([0.35, 0.25, 0.15, 0.1, 0.1])  # per class of length: popular queries of no topic in particular
_NEW = 0.5, 0.9  # of a user's popular queries are not a repetition of an earlier one: at least, at most
_DRAWS = 4  # new popular queries for each one to be shared, so that most of them are
_GROWTH = 1.25
_STEPS = 60


@dataclass(frozen=True)
class Popular:
    """Which popular query each event types. Queries stand on shelves, from the most popular down.

    Shelf 0 is everybody's, shelf t + 1 that of topic t: everybody's queries are chosen first.
    """

    query: np.ndarray  # per event
    size: np.ndarray  # popular queries per shelf
    typed: int  # how many of them are typed at all


def draw_popular(
    people: People,
    events: np.ndarray,
    user: np.ndarray,
    length_class: int,
    topics: int,
    meter: Meter,
    rng: np.random.Generator,
) -> Popular:
    """Popular queries for these events: as many different ones as make the planned number shared by users."""
    wanted = people.plan.shared[length_class]
    new = new_at_rate(user, float(np.clip(_DRAWS * wanted / max(len(user), 1), *_NEW)), rng)
    shelf = 1 + people.session_topic[people.session[events[new]]].astype(np.int64)
    shelf[rng.random(len(shelf)) < _EVERYBODYS[length_class]] = 0
    chance = rng.random(len(shelf))
    zipf = float(_ZIPF[length_class])
    size = _enough(shelf, chance, user[new], topics + 1, zipf, wanted, meter)
    query = _ranked(shelf, chance, size, zipf)
    return Popular(query[repeated(user, new, rng)], size, len(distinct(query)))


def popular_anchors(
    passages: Passages, size: np.ndarray, length: int, first_number: int, rng: np.random.Generator
) -> Anchors:
    """Where the popular queries start: the commonest phrases of this length in each topic first, then any."""
    topics = np.roll(np.arange(len(size)), 1)  # the last topic is the whole corpus
    used = np.empty(0, dtype=np.uint64)
    position = []
    for topic, many in zip(topics, size, strict=True):
        start, keys = _commonest(passages, int(topic), int(many), length, used, rng)
        used = np.concatenate([used, keys])
        position.append(start)
    own = first_number + np.arange(size.sum())
    return Anchors(np.concatenate(position), np.repeat(topics, size), np.zeros_like(own), own)


def _commonest(
    passages: Passages, topic: int, many: int, length: int, used: np.ndarray, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Where this many unused phrases of a topic start, from the commonest down (then any place), and their keys."""
    if not many:
        return np.empty(0, dtype=np.int64), np.empty(0, dtype=np.uint64)
    draws = 8 * many + 1_000
    low, high = (np.full(draws, edge[topic]) for edge in (passages.low, passages.high))
    position = passages.draw(low, high, rng)
    zero = np.zeros(draws, dtype=np.int64)
    phrases = phrases_at(passages, Anchors(position, np.full(draws, topic), zero, zero), length, 0, slips=False)
    keys, first, often = np.unique(phrases.key(), return_index=True, return_counts=True)
    free = phrases.sound()[first] & ~np.isin(keys, used)
    order = np.lexsort((first, -often, ~free))[:many]
    order = order[free[order]]
    return np.concatenate([position[first[order]], position[: many - len(order)]]), keys[order]


def _enough(
    shelf: np.ndarray, chance: np.ndarray, user: np.ndarray, shelves: int, zipf: float, wanted: float, meter: Meter
) -> np.ndarray:
    """Popular queries per shelf, so that about `wanted` of them are typed by two users or more."""
    share = np.bincount(shelf, minlength=shelves) / max(len(shelf), 1)
    best, best_miss, total = np.ceil(share).astype(np.int64), np.inf, max(wanted / 2, 1.0)
    for _ in range(_STEPS):
        meter.advance()
        size = np.where(share > 0, np.maximum(1, np.rint(total * share)), 0).astype(np.int64)
        shared = _shared(_ranked(shelf, chance, size, zipf), user, int(size.sum()))
        if abs(shared - wanted) < best_miss:
            best, best_miss = size, abs(shared - wanted)
        if shared >= wanted or total > len(shelf):
            break
        total *= float(np.clip(wanted / max(shared, 1), 1.02, _GROWTH))
    return best


def _shared(query: np.ndarray, user: np.ndarray, queries: int) -> int:
    """How many of the queries two users or more type."""
    users = int(user.max()) + 1 if len(user) else 1
    pairs = distinct(query * users + user)
    return int((np.bincount(pairs // users, minlength=queries) >= 2).sum())


def _ranked(shelf: np.ndarray, chance: np.ndarray, size: np.ndarray, zipf: float) -> np.ndarray:
    """The query at a Zipf-distributed rank of the shelf, by the inverse of its distribution function."""
    offset = np.cumsum(size) - size
    top = (size[shelf] + 1.0) ** (1 - zipf) - 1
    rank = np.floor((1 + chance * top) ** (1 / (1 - zipf))).astype(np.int64) - 1
    return offset[shelf] + np.clip(rank, 0, size[shelf] - 1)


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
