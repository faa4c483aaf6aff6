"""Which profile is most like a group, and how are many users cut into blocks of similar ones? By cosines."""

from collections.abc import Callable

import numpy as np
from numba import njit
from scipy.sparse import csc_array, csr_array

from shoal.corpus.progress import Progress, silent

_COMPACT = 0.8  # the inverted index is made anew when only this share of its profiles is free
_ROUNDS = 3  # of moving the two centres; more change little


class Likeness:
    """The profiles that are still free, and how like each is to the sum of the group that grows.

    No similarity of two profiles is ever stored: one number per profile is all there is.
    """

    def __init__(self, vectors: csr_array) -> None:
        self._rows = vectors
        by_column = csc_array(vectors)
        self._start, self._profile = by_column.indptr, by_column.indices.astype(np.int32)
        self._weight = by_column.data
        self._square = np.asarray(vectors.multiply(vectors).sum(axis=1)).ravel()
        self._dot = np.zeros(vectors.shape[0])
        self._free = np.ones(vectors.shape[0], dtype=np.bool_)
        self._left = self._listed = vectors.shape[0]

    def start_group(self) -> None:
        self._dot.fill(0.0)

    def take(self, profile: int) -> None:
        """Put a profile into the group: it is no longer free, and the group's sum grows by it."""
        self._free[profile] = False
        self._left -= 1
        if self._left < _COMPACT * self._listed:
            self._forget_taken()
        self._add(profile, self._dot)

    def _add(self, profile: int, dot: np.ndarray) -> None:
        """Add the dot products with a profile."""
        part = slice(self._rows.indptr[profile], self._rows.indptr[profile + 1])
        columns, weights = self._rows.indices[part], self._rows.data[part]
        _add_dots(columns, weights, self._start, self._profile, self._weight, dot)

    def _forget_taken(self) -> None:
        """Take the profiles that are no longer free off the inverted index."""
        kept = self._free[self._profile]
        self._start = np.concatenate([[0], np.cumsum(kept)])[self._start]
        self._profile, self._weight = self._profile[kept], self._weight[kept]
        self._listed = self._left

    def dots(self) -> np.ndarray:
        """Dot products with the group's sum as it is now, to ask `furthest` later."""
        return self._dot.copy()

    def closest(self) -> int:
        """The free profile with the largest cosine to the group's sum, the first of equals; -1 if none is free."""
        return int(_extreme(self._dot, self._square, self._free, 1.0))

    def furthest(self, dots: np.ndarray) -> int:
        """The free profile with the smallest cosine to what these dot products are with."""
        return int(_extreme(dots, self._square, self._free, -1.0))

    def furthest_from(self, profile: int) -> int:
        """The free profile with the smallest cosine to this one."""
        dots = np.zeros(len(self._dot))
        self._add(profile, dots)
        return self.furthest(dots)


@njit(cache=True)
def _add_dots(columns, weights, start, profile, weight_of, dot):  # type: ignore[no-untyped-def]
    for i in range(len(columns)):
        weight = weights[i]
        for place in range(start[columns[i]], start[columns[i] + 1]):
            dot[profile[place]] += weight * weight_of[place]


@njit(cache=True)
def _extreme(dot, square, free, sign):  # type: ignore[no-untyped-def]
    """The first free profile where sign * cosine is largest.

    The cosine's square is compared: of whole-number weights it is the quotient of two whole numbers, so that equal
    cosines are equal numbers and a tie is a tie.
    """
    best = -1
    best_value = -np.inf
    for profile in range(len(dot)):
        if free[profile]:
            value = sign * dot[profile] * dot[profile] / square[profile]
            if value > best_value:
                best = profile
                best_value = value
    return best


Wide = Callable[[np.ndarray], bool]


def similar_blocks(
    vectors: csr_array, most: int, wide: Wide, rng: np.random.Generator, progress: Progress = silent
) -> list[np.ndarray]:
    """Rows in blocks of at most `most`, by cutting in halves again and again; a half that is not `wide` is not made."""
    norms = np.sqrt(np.asarray(vectors.multiply(vectors).sum(axis=1)).ravel())
    scale = csr_array((1 / norms, np.arange(len(norms)), np.arange(len(norms) + 1)), shape=(len(norms), len(norms)))
    units = csr_array(scale @ vectors)
    done: list[np.ndarray] = []
    waiting = [np.arange(vectors.shape[0])]
    while waiting:
        rows = waiting.pop()
        progress(sum(len(block) for block in done), vectors.shape[0], "cutting into blocks")
        halves = _halves(units, rows, rng) if len(rows) > most else ()
        if halves and all(wide(half) for half in halves):
            waiting.extend(reversed(halves))
        else:
            done.append(rows)
    return done


def _halves(units: csr_array, rows: np.ndarray, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Two halves of equal size, each nearer to its own centre (two-means with a cut at the median)."""
    part = csr_array(units[rows])
    first, second = rng.choice(len(rows), 2, replace=False)
    direction = (part[[first]] - part[[second]]).toarray().ravel()
    for _ in range(_ROUNDS):
        order = np.argsort(-(part @ direction), kind="stable")
        side = np.zeros(len(rows))
        side[order[: len(rows) // 2]] = 1.0
        direction = _centre(part, side) - _centre(part, 1 - side)
    return rows[side > 0], rows[side == 0]


def _centre(part: csr_array, side: np.ndarray) -> np.ndarray:
    total = side @ part
    return np.asarray(total / np.sqrt(total @ total))
