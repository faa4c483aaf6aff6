"""Which cluster takes a transaction at the least distortion? The compiled inner loops of Clump.

A cluster S is kept as its m_S alone: m_S(v) = min over t in S of c_t(v), the number of items of t at or below v.
Distortions are whole numbers, GGD times leaves(root) - 1, so that ties are ties.
"""

from typing import NamedTuple

import numpy as np
from numba import njit

from shoal.anonymizer.transactions import Columns


class Clusters(NamedTuple):
    """The m of cluster j stands at start[j] : start[j] + width[j], and never grows."""

    start: np.ndarray  # int64
    width: np.ndarray  # int64: the nodes v with m(v) > 0
    node: np.ndarray  # int32
    m: np.ndarray  # int32
    size: np.ndarray  # int64: members
    items: np.ndarray  # int64: sum of |t| over the members
    saved: np.ndarray  # int64: sum over v of m(v) * gain(v), what the LCG saves per member
    following: np.ndarray  # int64: the next open cluster after each; the last entry is the first open one


class Bench(NamedTuple):
    """Room to lay out one transaction: c(v) for every node, and the nodes where it is not 0."""

    c: np.ndarray  # int32
    held: np.ndarray  # int32


@njit(cache=True)
def _lay_out(t: int, columns: Columns, bench: Bench) -> int:
    """Set c_t(v) on the bench; gives the number of nodes held."""
    held = 0
    for x in range(columns.start[t], columns.start[t + 1]):
        i = columns.item[x]
        for p in range(columns.path_start[i], columns.path_start[i + 1]):
            v = columns.path[p]
            if bench.c[v] == 0:
                bench.held[held] = v
                held += 1
            bench.c[v] += columns.copies[x]
    return held


@njit(cache=True)
def _clear(held: int, bench: Bench) -> None:
    for h in range(held):
        bench.c[bench.held[h]] = 0


@njit(cache=True)
def _widths(seeds: np.ndarray, columns: Columns, bench: Bench) -> np.ndarray:
    width = np.empty(len(seeds), dtype=np.int64)
    for j in range(len(seeds)):
        width[j] = _lay_out(seeds[j], columns, bench)
        _clear(width[j], bench)
    return width


@njit(cache=True)
def _copy_seeds(seeds: np.ndarray, columns: Columns, clusters: Clusters, gain: np.ndarray, bench: Bench) -> None:
    for j in range(len(seeds)):
        held = _lay_out(seeds[j], columns, bench)
        for h in range(held):
            v = bench.held[h]
            clusters.node[clusters.start[j] + h] = v
            clusters.m[clusters.start[j] + h] = bench.c[v]
            clusters.saved[j] += np.int64(bench.c[v]) * gain[v]
        _clear(held, bench)


def new_bench(nodes: int) -> Bench:
    return Bench(np.zeros(nodes, dtype=np.int32), np.empty(nodes, dtype=np.int32))


def open_clusters(seeds: np.ndarray, length: np.ndarray, columns: Columns, gain: np.ndarray, bench: Bench) -> Clusters:
    """One cluster per seed, all open; gain(v) = leaves(parent(v)) - leaves(v), 0 at the root."""
    width = _widths(seeds, columns, bench)
    start = np.concatenate([[0], np.cumsum(width)]).astype(np.int64)
    node, m = np.empty(start[-1], dtype=np.int32), np.empty(start[-1], dtype=np.int32)
    size = np.ones(len(seeds), dtype=np.int64)
    items, saved = length[seeds].astype(np.int64), np.zeros(len(seeds), dtype=np.int64)
    clusters = Clusters(start, width, node, m, size, items, saved, _all_open(len(seeds)))
    _copy_seeds(seeds, columns, clusters, gain, bench)
    return clusters


def reopened(clusters: Clusters) -> Clusters:
    """The same clusters, all open again."""
    return clusters._replace(following=_all_open(len(clusters.size)))


def _all_open(clusters: int) -> np.ndarray:
    return np.concatenate([np.arange(1, clusters + 1), [0]]).astype(np.int64)


@njit(cache=True)
def _shared(j: int, clusters: Clusters, gain: np.ndarray, bench: Bench) -> np.int64:
    """Sum over v of min(m(v), c(v)) * gain(v): what one member saves against suppressing all of it."""
    total = np.int64(0)
    for x in range(clusters.start[j], clusters.start[j] + clusters.width[j]):
        v = clusters.node[x]
        total += np.int64(min(clusters.m[x], bench.c[v])) * gain[v]
    return total


@njit(cache=True)
def _join(j: int, length: int, clusters: Clusters, gain: np.ndarray, bench: Bench) -> None:
    """m of a union is the elementwise minimum (Lemma 4.1.1); nodes where it is 0 are dropped in place."""
    end = clusters.start[j]
    clusters.saved[j] = _shared(j, clusters, gain, bench)
    for x in range(clusters.start[j], clusters.start[j] + clusters.width[j]):
        m = min(clusters.m[x], bench.c[clusters.node[x]])
        if m > 0:
            clusters.node[end], clusters.m[end] = clusters.node[x], m
            end += 1
    clusters.width[j] = end - clusters.start[j]
    clusters.size[j] += 1
    clusters.items[j] += length


@njit(cache=True)
def _cost(j: int, length: int, saved: np.int64, clusters: Clusters, worst: int) -> np.int64:
    """GGD of the cluster with one more member of this length, where the LCG saves this much per member."""
    return (clusters.items[j] + length) * worst - (clusters.size[j] + 1) * saved


@njit(cache=True)
def _least_cost(j: int, length: int, clusters: Clusters, worst: int) -> np.int64:
    """No less than this: the LCG saves at most all of the newcomer, and at most what it saves now.

    Clusters of very long transactions stay among the first open ones for long, since any other is cheaper; to look
    through their many nodes each time would make the whole grow faster than the log.
    """
    return _cost(j, length, min(np.int64(length * worst), clusters.saved[j]), clusters, worst)


@njit(cache=True)
def _cheapest(length: int, clusters: Clusters, gain: np.ndarray, worst: int, r: int, bench: Bench) -> tuple[int, int]:
    """That of the first r open clusters whose GGD with the transaction is the least, and the open one before it.

    The likeliest is tried first; then, of the others, only those whose bound does not rule them out.
    """
    head = len(clusters.size)
    likely, bound, seen = -1, np.int64(0), 0
    j = clusters.following[head]
    while j < head and seen < r:
        least = _least_cost(j, length, clusters, worst)
        if likely < 0 or least < bound:
            likely, bound = j, least
        j, seen = clusters.following[j], seen + 1
    best_cost = _cost(likely, length, _shared(likely, clusters, gain, bench), clusters, worst)
    best, best_before = likely, -1
    before, j, seen = head, clusters.following[head], 0
    while j < head and seen < r:
        if j == likely:
            if best == likely:
                best_before = before
        elif _least_cost(j, length, clusters, worst) <= best_cost:
            cost = _cost(j, length, _shared(j, clusters, gain, bench), clusters, worst)
            if cost < best_cost or (cost == best_cost and j < best):  # the first of equals, as in the thesis
                best, best_before, best_cost = j, before, cost
        before, j, seen = j, clusters.following[j], seen + 1
    return best, best_before


@njit(cache=True)
def assign(
    transactions: np.ndarray,
    length: np.ndarray,
    columns: Columns,
    clusters: Clusters,
    gain: np.ndarray,
    worst: int,
    capacity: int,
    r: int,
    bench: Bench,
    cluster_of: np.ndarray,
) -> None:
    """Each transaction, in this order, joins that one of the first r open clusters whose GGD is then the least.

    worst = leaves(root) - 1 is what a suppressed item costs.
    """
    for t in transactions:
        held = _lay_out(t, columns, bench)
        best, before = _cheapest(length[t], clusters, gain, worst, r, bench)
        _join(best, length[t], clusters, gain, bench)
        cluster_of[t] = best
        if clusters.size[best] >= capacity:
            clusters.following[before] = clusters.following[best]
        _clear(held, bench)


@njit(cache=True)
def least_common_generalizations(clusters: Clusters, parent: np.ndarray, bench: Bench) -> None:
    """Turn each m_S into the copies of v in LCG(S): m_S(v) less the sum of m_S(w) over the children w of v."""
    for j in range(len(clusters.size)):
        stretch = range(clusters.start[j], clusters.start[j] + clusters.width[j])
        for x in stretch:
            bench.c[clusters.node[x]] += clusters.m[x]
            if parent[clusters.node[x]] >= 0:
                bench.c[parent[clusters.node[x]]] -= clusters.m[x]
        for x in stretch:
            clusters.m[x] = bench.c[clusters.node[x]]
            bench.c[clusters.node[x]] = 0
