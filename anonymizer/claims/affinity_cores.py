"""How many users protect each query? Generalized cores (Carpineto & Romano 3.3), for the verifier of affinity.

As the paper scores them, every vector is scored against all others by an inverted index; then, level by level, what
has fewer users around it than the level asks for is removed until nothing more is.
"""

from itertools import pairwise

import numpy as np
from numba import njit
from scipy.sparse import csr_array, eye_array

_SLACK = 1e-10  # so that rounding loses no pair at the threshold itself
_ENTRIES_AT_ONCE = 50_000_000


def degrees_among(vectors: csr_array, asked: csr_array, theta: float, levels: np.ndarray) -> np.ndarray:
    """For each query the largest of these ascending levels that its degree reaches, 0 for none; asked by its users."""
    if not vectors.nnz:
        return np.zeros(vectors.shape[0], dtype=np.int64)
    group, first = _equal_rows(vectors)
    member = csr_array((np.ones(len(group), dtype=np.int32), (group, np.arange(len(group)))))
    asked = csr_array((np.ones(asked.nnz, dtype=np.int32), asked.indices, asked.indptr), shape=asked.shape)
    return _levels_reached(_affine(csr_array(vectors[first]), theta), csr_array(member @ asked), levels)[group]


def _equal_rows(vectors: csr_array) -> tuple[np.ndarray, np.ndarray]:
    """The number of each row among the distinct ones, and a row of each number. Equal concepts weigh the same."""
    vectors.sort_indices()
    concepts = vectors.indices.astype(np.int32).tobytes()
    numbers: dict[bytes, int] = {}
    bounds = pairwise((4 * vectors.indptr.astype(np.int64)).tolist())
    group = np.array([numbers.setdefault(concepts[a:b], len(numbers)) for a, b in bounds], dtype=np.int64)
    return group, np.unique(group, return_index=True)[1]


def _affine(vectors: csr_array, theta: float) -> csr_array:
    """Vectors x vectors, an entry where the cosine is at least theta; each is affine to itself."""
    norm = np.asarray(vectors.multiply(vectors).sum(axis=1)).ravel()
    order = np.argsort(norm, kind="stable")
    sorted_rows = csr_array(vectors[order])
    columns = csr_array(sorted_rows.T.tocsr())
    pairs = _pairs(
        sorted_rows.indptr, sorted_rows.indices, sorted_rows.data, norm[order], columns.indptr, columns.indices, theta
    )
    a, b = order[pairs[:, 0]], order[pairs[:, 1]]
    shape = (len(norm), len(norm))
    half = csr_array((np.ones(len(a), dtype=np.int32), (a, b)), shape=shape)
    return csr_array(half + half.T + eye_array(len(norm), dtype=np.int32, format="csr"))


@njit(cache=True)
def _pairs(
    start: np.ndarray, concept: np.ndarray, weight: np.ndarray, norm: np.ndarray,
    column_start: np.ndarray, row: np.ndarray, theta: float,
) -> np.ndarray:  # fmt: skip
    """The pairs of cosine theta or more. Rows ascend by squared norm, and those of a pair differ by theta^2 at most."""
    pairs = np.empty((1024, 2), dtype=np.int64)
    found = 0
    score = np.zeros(len(norm))
    met = np.empty(len(norm), dtype=np.int64)
    for a in range(len(norm)):
        number = 0
        low = np.searchsorted(norm[:a], theta * theta * norm[a] * (1 - _SLACK))
        for i in range(start[a], start[a + 1]):
            f = concept[i]
            rows = row[column_start[f] : column_start[f + 1]]
            for b in rows[np.searchsorted(rows, low) : np.searchsorted(rows, a)]:
                if score[b] == 0:
                    met[number] = b
                    number += 1
                score[b] += weight[i] * weight[i]
        for b in met[:number]:
            if score[b] >= theta * np.sqrt(norm[a] * norm[b]) * (1 - _SLACK):
                if found == len(pairs):
                    pairs = np.concatenate((pairs, np.empty_like(pairs)))
                pairs[found, 0], pairs[found, 1] = a, b
                found += 1
            score[b] = 0
    return pairs[:found].copy()


def _levels_reached(near: csr_array, users: csr_array, levels: np.ndarray) -> np.ndarray:
    """The largest level whose core holds each row. Around a row are its own users and those of rows near it."""
    reached = np.zeros(near.shape[0], dtype=np.int64)
    there = np.ones(near.shape[0], dtype=bool)
    own = np.diff(users.indptr).astype(np.int64)
    at_least = own.copy()  # of the users around each row
    standing = np.arange(near.shape[0])
    for level in levels.tolist():
        doubtful = standing[at_least[standing] < level]
        while len(doubtful):
            at_least[doubtful] = _users_around(near, users, doubtful, there)
            left = doubtful[at_least[doubtful] < level]
            there[left] = False
            lost = csr_array(near[left])
            np.subtract.at(at_least, lost.indices, np.repeat(own[left], np.diff(lost.indptr)))
            around = np.unique(lost.indices)
            at_least[around] = np.maximum(at_least[around], own[around])
            doubtful = around[there[around] & (at_least[around] < level)]
        standing = standing[there[standing]]
        reached[standing] = level
        if not len(standing):
            break
    return reached


def _users_around(near: csr_array, users: csr_array, rows: np.ndarray, there: np.ndarray) -> np.ndarray:
    """The distinct users of each of these rows and of the rows near it that are still there."""
    around = csr_array(near[rows])
    entries = np.concatenate([[0], np.cumsum(np.diff(users.indptr)[around.indices])])[around.indptr]
    bounds = np.searchsorted(entries, np.arange(0, entries[-1], _ENTRIES_AT_ONCE))
    counts = np.empty(len(rows), dtype=np.int64)
    for begin, end in pairwise(np.unique([*bounds, len(rows)]).tolist()):
        part = around[begin:end]
        part.data = there[part.indices].astype(np.int32)
        part.eliminate_zeros()
        counts[begin:end] = np.diff((part @ users).indptr)
    return counts
