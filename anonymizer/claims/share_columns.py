"""What do published shares say? Their numbers in columns, and what so many of each query read together.

An adversary may have written them: whatever is no share is left out, and what reads no text is null.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import polars as pl
from numba import njit

from shoal.anonymizer.claims.polynomials import PRIME, astray, secrets
from shoal.corpus.columns import starts

BYTES = 7  # of a block of a query; a byte 128 ends a query, and zeros fill its last block
_VALUE = "(?:0|[1-9][0-9]{0,18})"
_SHARE = rf"^(?P<query>0|[1-9][0-9]{{0,17}})/(?P<point>[1-9][0-9]{{0,17}})/(?P<values>{_VALUE}(?:\.{_VALUE})*)$"
_AT_ONCE = 1_000_000  # rows or texts, so that only the columns of all of them are held


@dataclass(frozen=True, eq=False)
class Shares:
    """The rows that are shares, in the order of their queries and of the points of their users."""

    row: np.ndarray  # where each is published
    query: np.ndarray  # int64: its number
    point: np.ndarray  # uint64
    at: np.ndarray  # int64: where among the values those of this share begin, one for each block
    blocks: np.ndarray
    values: np.ndarray  # uint64: of all shares

    @cached_property
    def first(self) -> np.ndarray:
        """Where the shares of each query begin, and where those of the last end."""
        return np.append(np.flatnonzero(starts(self.query)), len(self.query))

    @cached_property
    def many(self) -> np.ndarray:
        """How many shares each query has."""
        return np.diff(self.first)

    @cached_property
    def again(self) -> np.ndarray:
        """Whether a share is of the query and the point of the one before it."""
        return ~starts(self.query, self.point)

    @cached_property
    def fit(self) -> np.ndarray:
        """Whether the shares of a query are equally long, and no two have one point."""
        wrong = self.again | (self.blocks != np.repeat(self.length, self.many))
        return np.diff(np.concatenate([[0], np.cumsum(wrong)])[self.first]) == 0

    @cached_property
    def length(self) -> np.ndarray:
        """How many blocks each query has, by its first share."""
        return self.blocks[self.first[:-1]]

    def decoded(self, take: np.ndarray) -> pl.Series:
        """What so many shares of each query read, as bytes; null where that is no text, or none is taken."""
        start = offsets(np.where(take > 0, self.length, 0))
        return read_blocks(secrets(self.first, take, self.point, self.at, self.values, start), start)

    def texts(self, k: int) -> pl.Series:
        """What k shares of each query read; null where there are fewer, or they do not fit, or read no text."""
        return _as_text(self.decoded(self._taken(k)))

    def astray(self, k: int) -> np.ndarray:
        """Whether a share of a query lies on other polynomials than its first k, where these fit."""
        return astray(self.first, self._taken(k), self.point, self.at, self.values, self.length)

    def _taken(self, k: int) -> np.ndarray:
        return np.where(self.fit & (self.many >= k), k, 0)


def parsed(texts: pl.Series) -> Shares:
    """What rows say. Those that are no shares are left out."""
    slices = (_parsed(texts, low) for low in range(0, max(1, len(texts)), _AT_ONCE))
    row, query, point, blocks, values = map(np.concatenate, zip(*slices, strict=True))  # which frees the slices
    order = np.lexsort((point, query))
    return Shares(row[order], query[order], point[order], offsets(blocks)[order], blocks[order], values)


def _parsed(texts: pl.Series, low: int) -> tuple[np.ndarray, ...]:
    some = texts.slice(low, _AT_ONCE).str.extract_groups(_SHARE).struct.unnest().with_row_index("row", low)
    some = some.drop_nulls().with_columns(pl.col("values").str.split("."))
    some = some.cast({"row": pl.Int64, "query": pl.Int64, "point": pl.UInt64, "values": pl.List(pl.UInt64)})
    some = some.filter(pl.col("point") < PRIME, pl.col("values").list.max() < PRIME)
    blocks = some["values"].list.len().cast(pl.Int64)
    values = some["values"].explode(empty_as_null=False)
    return tuple(column.to_numpy() for column in (some["row"], some["query"], some["point"], blocks, values))


def offsets(sizes: np.ndarray) -> np.ndarray:
    """Where each begins that is so large, one after the other, and the end."""
    return np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)


def read_blocks(blocks: np.ndarray, start: np.ndarray) -> pl.Series:
    """What is written in blocks[start[i]:start[i + 1]], as bytes, or null."""
    sizes = _text_sizes(blocks, start)
    there = np.flatnonzero(sizes >= 0)
    place = offsets(sizes[there])
    found = cut(_written(blocks, start[there], place), place)
    at = np.full(len(sizes), -1)
    at[there] = np.arange(len(there))
    return found.gather(pl.Series(at).replace(-1, None))


@njit(cache=True)
def _text_sizes(blocks: np.ndarray, start: np.ndarray) -> np.ndarray:
    """How many bytes stand before the end of each text, which is in its last block; -1 where there is no text."""
    sizes = np.empty(len(start) - 1, dtype=np.int64)
    for text in range(len(sizes)):
        low, high = start[text], start[text + 1]
        whole = high > low
        for block in blocks[low:high]:
            whole &= block >> np.uint64(8 * BYTES) == 0
        size = BYTES * (high - low) - 1
        last = blocks[high - 1] if whole else np.uint64(0)
        while last != 0 and last >> np.uint64(8 * (BYTES - 1)) == 0:
            last, size = last << np.uint64(8), size - 1
        sizes[text] = size if last >> np.uint64(8 * (BYTES - 1)) == 0x80 else -1
    return sizes


@njit(cache=True)
def _written(blocks: np.ndarray, start: np.ndarray, place: np.ndarray) -> np.ndarray:
    """The bytes of texts; text i has content[place[i]:place[i + 1]]."""
    content = np.empty(place[-1], dtype=np.uint8)
    for text in range(len(start)):
        for i in range(place[text + 1] - place[text]):
            content[place[text] + i] = blocks[start[text] + i // BYTES] >> np.uint64(8 * (i % BYTES)) & np.uint64(255)
    return content


def cut(content: np.ndarray, start: np.ndarray) -> pl.Series:
    """content[start[i]:start[i + 1]] as binary strings."""
    parts = [pl.Series("text", dtype=pl.Binary)]
    for low in range(0, len(start) - 1, _AT_ONCE):
        at = start[low : low + _AT_ONCE + 1]
        whole = pl.lit(content[at[0] : at[-1]].tobytes()).alias("text")
        parts.append(pl.select(whole.bin.slice(pl.Series(at[:-1] - at[0]), pl.Series(np.diff(at)))).to_series())
    return pl.concat(parts)


def _as_text(found: pl.Series) -> pl.Series:
    """Bytes as text, null where they are none."""
    try:
        return found.cast(pl.String)
    except pl.exceptions.ComputeError:  # which names none of them
        return pl.Series(map(_text, found.to_list()), dtype=pl.String)


def _text(content: bytes | None) -> str | None:
    try:
        return None if content is None else content.decode()
    except UnicodeDecodeError:
        return None
