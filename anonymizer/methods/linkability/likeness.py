"""Which profile is most like a group? By cosines, through an inverted index of those that are still free."""

import numpy as np
from numba import njit
from scipy.sparse import csc_array, csr_array

_COMPACT = 0.8  # the inverted index is made anew when only this share of its profiles is free


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
