"""Which queries are about the very same concepts? Classes of queries with one concept vector: affinity is between them.

Queries with the same concepts have cosine 1 and the same neighbours, so they live and die together: a graph over
classes, each with the union of its queries' users, has the same generalized cores as one over (query, user) pairs.
"""

from dataclasses import dataclass

import numpy as np
from numba import njit
from scipy.sparse import csr_array

from shoal.anonymizer.distinct_queries import DistinctQueries
from shoal.anonymizer.methods.affinity.concepts import Concepts


@dataclass(frozen=True, eq=False)
class AffinityClasses:
    """Concept vectors, numbered by their squared norm.

    Class c holds the concepts concept[start[c]:start[c + 1]], the rarest first, and its queries were asked by
    user[user_start[c]:user_start[c + 1]].
    """

    start: np.ndarray  # int64
    concept: np.ndarray  # int32
    square: np.ndarray  # the squared weight of each concept
    norm: np.ndarray  # the squared norm of each class, ascending
    user_start: np.ndarray
    user: np.ndarray
    of_query: np.ndarray  # the class of each query, -1 for a query without one

    def __len__(self) -> int:
        return len(self.norm)

    @property
    def vectors(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """What tells the cosine of two classes."""
        return self.start, self.concept, self.square, self.norm


def affinity_classes(queries: DistinctQueries, concepts: Concepts) -> AffinityClasses:
    """Group the queries that take part: with a concept, and without a word that too few users typed."""
    part = np.flatnonzero(concepts.expanded & ~concepts.holds_rare_word & (queries.users > 0))
    first, of_row = _group_equal_rows(concepts.start, concepts.concept, part)
    rows = part[first]
    rank, square = _rarest_first(concepts, rows)
    norm = _norms(concepts.start, concepts.concept, concepts.weight**2, rows)
    order = np.lexsort((rows, norm))
    start, concept = _gather_rows(concepts.start, rank[concepts.concept], rows[order])
    place = np.empty(len(order), dtype=np.int64)
    place[order] = np.arange(len(order))
    of_query = np.full(len(queries), -1, dtype=np.int64)
    of_query[part] = place[of_row]
    users = _users_of_classes(queries, part, of_query[part], len(order))
    return AffinityClasses(start, concept, square, norm[order], users.indptr, users.indices, of_query)


def _rarest_first(concepts: Concepts, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """New numbers of the concepts, by how many classes hold them, and their squared weights in that order."""
    holding = _count(concepts.start, concepts.concept, rows, len(concepts.weight))
    order = np.lexsort((np.arange(len(holding)), holding))
    rank = np.empty(len(order), dtype=np.int32)
    rank[order] = np.arange(len(order), dtype=np.int32)
    return rank, (concepts.weight**2)[order]


def _users_of_classes(queries: DistinctQueries, part: np.ndarray, group: np.ndarray, classes: int) -> csr_array:
    ones = np.ones(len(part), dtype=np.int32)
    membership = csr_array((ones, (group, part)), shape=(classes, len(queries)))
    users = csr_array(membership @ queries.askers.astype(np.int32))
    users.sort_indices()
    return users


@njit(cache=True)
def _group_equal_rows(start: np.ndarray, items: np.ndarray, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Number the distinct rows in the order of appearance: the first of each, and the group of every row."""
    size = 16
    while size < 2 * len(rows):
        size *= 2
    table = np.full(size, -1, dtype=np.int64)
    first = np.empty(len(rows), dtype=np.int64)
    group = np.empty(len(rows), dtype=np.int64)
    groups = 0
    for i in range(len(rows)):
        a = items[start[rows[i]] : start[rows[i] + 1]]
        code = np.uint64(len(a))
        for item in a:
            code = (code ^ np.uint64(item)) * np.uint64(0x9E3779B97F4A7C15)
            code ^= code >> np.uint64(29)
        slot = np.int64(code & np.uint64(size - 1))
        while table[slot] >= 0:
            other = rows[first[table[slot]]]
            if np.array_equal(items[start[other] : start[other + 1]], a):
                break
            slot = (slot + 1) & (size - 1)
        if table[slot] < 0:
            table[slot] = groups
            first[groups] = i
            groups += 1
        group[i] = table[slot]
    return first[:groups].copy(), group


@njit(cache=True)
def _count(start: np.ndarray, items: np.ndarray, rows: np.ndarray, size: int) -> np.ndarray:
    count = np.zeros(size, dtype=np.int64)
    for row in rows:
        for i in range(start[row], start[row + 1]):
            count[items[i]] += 1
    return count


@njit(cache=True)
def _norms(start: np.ndarray, items: np.ndarray, square: np.ndarray, rows: np.ndarray) -> np.ndarray:
    norm = np.zeros(len(rows))
    for i in range(len(rows)):
        for j in range(start[rows[i]], start[rows[i] + 1]):
            norm[i] += square[items[j]]
    return norm


@njit(cache=True)
def _gather_rows(start: np.ndarray, items: np.ndarray, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """These rows, each sorted."""
    new = np.zeros(len(rows) + 1, dtype=np.int64)
    for i in range(len(rows)):
        new[i + 1] = new[i] + start[rows[i] + 1] - start[rows[i]]
    gathered = np.empty(new[-1], dtype=np.int32)
    for i in range(len(rows)):
        gathered[new[i] : new[i + 1]] = np.sort(items[start[rows[i]] : start[rows[i] + 1]])
    return new, gathered
