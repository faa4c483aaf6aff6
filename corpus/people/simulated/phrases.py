"""Which words does a query hold? A run of content words of a passage that nobody else has typed yet, some misspelt."""

from dataclasses import dataclass

import numpy as np
import polars as pl

from shoal.corpus.columns import below, mix
from shoal.corpus.people.simulated.passages import Passages

PLAIN, COMPOUND, MISSPELT, NUMBERED = 0, 1, 2, 3
NUMBERS = 10_000
_DROPPED, _DOUBLED = 0, 1
_PLACES = 64
LONGEST = 10
_KEEP_THE_START = 3  # attempts that change the last word only
_SLIPS = 5  # misspelt queries in a hundred
# Attempts to find words that are still free: how the last word is written, and how far ahead it is taken from.
_ONE_WORD = (
    (PLAIN, 0), (PLAIN, 16), (PLAIN, 4_096), (COMPOUND, 0), (MISSPELT, 0), (COMPOUND, 64), (MISSPELT, 64),
    (COMPOUND, 512), (MISSPELT, 4_096), (COMPOUND, 4_096), (COMPOUND, 1 << 20), (NUMBERED, 0), (NUMBERED, 1 << 20),
)  # fmt: skip
_MORE_WORDS = (
    (PLAIN, 0), (PLAIN, 8), (PLAIN, 64), (PLAIN, 512), (PLAIN, 4_096), (PLAIN, 1 << 20), (PLAIN, 1 << 20),
    (MISSPELT, 0), (COMPOUND, 64), (MISSPELT, 1 << 20), (COMPOUND, 1 << 20), (NUMBERED, 0), (NUMBERED, 1 << 20),
)  # fmt: skip


@dataclass(frozen=True)
class Anchors:
    """Where queries start. Rows with one token continue alike, so a longer query refines a shorter one (Q, Q+R)."""

    position: np.ndarray
    topic: np.ndarray  # the number of topics stands for the whole corpus
    token: np.ndarray
    own: np.ndarray  # a number that no other row has

    def rows(self, which: np.ndarray) -> "Anchors":
        return Anchors(self.position[which], self.topic[which], self.token[which], self.own[which])


@dataclass(frozen=True)
class Phrases:
    """Queries of one length: words, and how the last one is written."""

    words: np.ndarray  # int32, queries x length
    kind: np.ndarray  # int8
    extra: np.ndarray  # int32: the word run into the last one, the slip, or the number behind it
    position: np.ndarray  # where the query starts

    def key(self) -> np.ndarray:
        """Equal for equal queries, different for different ones (64 bits)."""
        return mix(*self.words.T, self.kind, self.extra)

    def sound(self) -> np.ndarray:
        """No word twice."""
        ordered = np.sort(self.words, axis=1)
        doubled = (self.kind == COMPOUND) & (self.extra == self.words[:, -1])
        return ~doubled & (ordered[:, 1:] != ordered[:, :-1]).all(axis=1)

    def texts(self, passages: Passages) -> pl.Series:
        columns = [passages.words.gather(column) for column in self.words.T[:-1]]
        columns.append(written(passages.words, self.words[:, -1], self.kind, self.extra))
        named = pl.DataFrame([column.rename(str(i)) for i, column in enumerate(columns)])
        return named.select(pl.concat_str(pl.all(), separator=" ").alias("query")).to_series()


class Taken:
    """The queries of one length that somebody types already."""

    def __init__(self) -> None:
        self._keys = np.empty(0, dtype=np.uint64)

    def claim(self, key: np.ndarray, sound: np.ndarray) -> np.ndarray:
        """True where the query was free, and now is not."""
        first = np.zeros(len(key), dtype=bool)
        rows = np.flatnonzero(sound)
        first[rows[np.unique(key[rows], return_index=True)[1]]] = True
        place = np.searchsorted(self._keys, key)
        known = np.zeros(len(key), dtype=bool)
        inside = place < len(self._keys)
        known[inside] = self._keys[place[inside]] == key[inside]
        won = first & ~known
        new = np.sort(key[won])
        self._keys = np.insert(self._keys, np.searchsorted(self._keys, new), new)
        return won


def phrases_at(passages: Passages, anchors: Anchors, length: int, attempt: int, slips: bool) -> Phrases:
    """The queries of this length that start at the anchors; another attempt takes another last word."""
    plan = _ONE_WORD if length == 1 else _MORE_WORDS
    how, reach = plan[attempt]
    token, own = anchors.token, anchors.own
    ahead = np.zeros((len(token), length), dtype=np.int64)
    for j in range(1, length):
        # One word in eight is passed over; where the words are taken or one comes twice, any two.
        passed = below(8, token, j) == 0 if attempt < _KEEP_THE_START else below(3, own, attempt, j)
        ahead[:, j] = ahead[:, j - 1] + 1 + passed
    if reach:
        ahead[:, -1] += below(reach, own, attempt, length)
    word = passages.word[_within(passages, anchors, ahead)]
    other = passages.word[_within(passages, anchors, ahead[:, -1:] + 1 + _further(reach, own, attempt))][:, 0]
    kind = np.full(len(token), how, dtype=np.int8)
    if slips and how == PLAIN:
        kind[below(100, own, LONGEST + length) < _SLIPS] = MISSPELT
    chance = below(1 << 20, own, attempt, LONGEST + 1)
    slipped = slip(chance, passages.letters[word[:, -1]])
    extra = np.select([kind == COMPOUND, kind == MISSPELT, kind == NUMBERED], [other, slipped, chance % NUMBERS], 0)
    return Phrases(word, kind, extra.astype(np.int32), anchors.position)


def fresh_phrases(passages: Passages, anchors: Anchors, length: int, taken: Taken, slips: bool) -> Phrases:
    """One query for each anchor that nobody else types. A corpus with too few words may leave some doubled."""
    result = phrases_at(passages, anchors, length, 0, slips)
    won = taken.claim(result.key(), result.sound())
    pending = np.flatnonzero(~won)
    for attempt in range(1, len(_ONE_WORD)):
        if not len(pending):
            break
        again = phrases_at(passages, anchors.rows(pending), length, attempt, slips)
        won = taken.claim(again.key(), again.sound())
        for column in ("words", "kind", "extra"):
            getattr(result, column)[pending] = getattr(again, column)
        pending = pending[~won]
    return result


def _further(reach: int, own: np.ndarray, attempt: int) -> np.ndarray:
    """How far the second half of a compound is from the first; next to it unless that was tried before."""
    return below(max(reach, 1), own, attempt, LONGEST + 2)[:, None]


def _within(passages: Passages, anchors: Anchors, ahead: np.ndarray) -> np.ndarray:
    """Positions ahead of the anchors; from the end of the topic on to its beginning."""
    low, high = passages.low[anchors.topic][:, None], passages.high[anchors.topic][:, None]
    return low + (anchors.position[:, None] - low + ahead) % (high - low)


def slip(choice: np.ndarray, letters: np.ndarray) -> np.ndarray:
    """A slip for a word with this many letters, fixed by a number: what happens (three kinds), and at which letter."""
    inner = np.maximum(letters - 2, 1)
    return (choice % 3) * _PLACES + 1 + choice // 3 % inner


def written(words: pl.Series, word: np.ndarray, kind: np.ndarray, extra: np.ndarray) -> pl.Series:
    """The words as typed: as they are, run together with the word `extra`, with that slip, or that number."""
    typed = (
        words.gather(word)
        .to_frame("word")
        .with_columns(
            kind=pl.Series(kind),
            extra=pl.Series(extra.astype(np.int64)),
            other=words.gather(np.where(kind == COMPOUND, extra, 0)),
        )
    )
    return typed.select(
        pl.when(pl.col("kind") == COMPOUND)
        .then(pl.col("word") + pl.col("other"))
        .when(pl.col("kind") == MISSPELT)
        .then(_misspelt())
        .when(pl.col("kind") == NUMBERED)
        .then(pl.col("word") + pl.col("extra").cast(pl.String))
        .otherwise(pl.col("word"))
        .alias("typed")
    ).to_series()


def _misspelt() -> pl.Expr:
    """A letter left out, typed twice, or swapped with the next one."""
    word, place, what = pl.col("word"), pl.col("extra") % _PLACES, pl.col("extra") // _PLACES
    before, after = word.str.slice(0, place), word.str.slice(place + 1)
    swapped = before + word.str.slice(place + 1, 1) + word.str.slice(place, 1) + word.str.slice(place + 2)
    return (
        pl.when(what == _DROPPED)
        .then(before + after)
        .when(what == _DOUBLED)
        .then(word.str.slice(0, place + 1) + word.str.slice(place))
        .otherwise(swapped)
    )
