"""Which terms are relevant to each other? Those at most epsilon edges apart in the taxonomy (Definition 3)."""

from dataclasses import dataclass

import numpy as np
from numba import njit

from shoal.corpus.errors import InputError
from shoal.corpus.knowledge.taxonomy import Taxonomy

MOST_PAIRS = 150_000_000  # about a gigabyte


@dataclass(frozen=True, eq=False)
class Neighbourhoods:
    """Term i is relevant to term[start[i]:start[i + 1]], ascending, at those distances in edges."""

    start: np.ndarray  # int64, one more than terms
    term: np.ndarray  # int32
    distance: np.ndarray  # int32


def find_neighbourhoods(taxonomy: Taxonomy, leaf: np.ndarray, owner: np.ndarray, epsilon: int) -> Neighbourhoods:
    """The neighbourhoods of terms that are these leaves of a taxonomy.

    owner[i] is the only vocabulary that uses term i, or -1: two terms of one owner never meet in a matching, so that
    a single huge vocabulary costs nothing here.
    """
    order = np.argsort(leaf, kind="stable")
    used = np.zeros(len(taxonomy) + 1, dtype=np.int64)
    used[leaf + 1] = 1
    tree = (taxonomy.parent, taxonomy.depth, taxonomy.end, np.cumsum(used))
    size = _count(*tree, leaf[order], owner[order], epsilon)
    pairs = int(size.sum())
    if pairs > MOST_PAIRS:
        raise InputError(
            f"epsilon={epsilon} makes {pairs:,} pairs of terms relevant, more than {MOST_PAIRS:,}: lower epsilon"
        )
    start = np.zeros(len(leaf) + 1, dtype=np.int64)
    np.cumsum(size[np.argsort(order, kind="stable")], out=start[1:])
    term, distance = np.empty(pairs, dtype=np.int32), np.empty(pairs, dtype=np.int32)
    _fill(*tree, leaf[order], owner[order], epsilon, order, start, term, distance)
    return Neighbourhoods(start, term, distance)


@njit(cache=True)
def _near(
    parent: np.ndarray, depth: np.ndarray, end: np.ndarray, before: np.ndarray, leaf: np.ndarray, owner: np.ndarray,
    epsilon: int, a: int, term: np.ndarray, distance: np.ndarray,
) -> int:  # fmt: skip
    """Write the leaves near leaf[a] (leaves in depth-first order) and give their number.

    The lowest common ancestor of two leaves is met once on the way up: below it, outside the branch we came from.
    """
    found = 0
    if owner[a] < 0:
        term[0], distance[0] = a, 0
        found = 1
    low, high, node = a, a + 1, parent[leaf[a]]
    for up in range(1, epsilon):
        if node < 0:
            break
        for b in range(before[node], before[end[node]]):
            edges = up + depth[leaf[b]] - depth[node]
            if edges <= epsilon and (b < low or b >= high) and (owner[b] < 0 or owner[b] != owner[a]):
                term[found], distance[found] = b, edges
                found += 1
        low, high, node = before[node], before[end[node]], parent[node]
    return found


@njit(cache=True)
def _count(
    parent: np.ndarray, depth: np.ndarray, end: np.ndarray, before: np.ndarray, leaf: np.ndarray, owner: np.ndarray,
    epsilon: int,
) -> np.ndarray:  # fmt: skip
    term, distance = np.empty(len(leaf) + 1, np.int64), np.empty(len(leaf) + 1, np.int64)
    size = np.empty(len(leaf), np.int64)
    for a in range(len(leaf)):
        size[a] = _near(parent, depth, end, before, leaf, owner, epsilon, a, term, distance)
    return size


@njit(cache=True)
def _fill(
    parent: np.ndarray, depth: np.ndarray, end: np.ndarray, before: np.ndarray, leaf: np.ndarray, owner: np.ndarray,
    epsilon: int, order: np.ndarray, start: np.ndarray, out_term: np.ndarray, out_distance: np.ndarray,
) -> None:  # fmt: skip
    term, distance = np.empty(len(leaf) + 1, np.int64), np.empty(len(leaf) + 1, np.int64)
    for a in range(len(leaf)):
        found = _near(parent, depth, end, before, leaf, owner, epsilon, a, term, distance)
        at = start[order[a]]
        for x, place in enumerate(np.argsort(order[term[:found]])):
            out_term[at + x] = order[term[place]]
            out_distance[at + x] = distance[place]
