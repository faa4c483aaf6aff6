"""What is a cluster of Clump while it grows? Its common generalization and its counts, in columns for compiled loops.

Distortions are whole numbers, GGD times leaves(root) - 1, so that ties are ties.

Which cluster takes a transaction at the least distortion? The compiled inner loops of Clump, Algorithm 4.5.
"""

from typing import NamedTuple

import numpy as np
from numba import njit

from shoal.anonymizer.transactions import Columns
from shoal.corpus.knowledge.taxonomy import Taxonomy


class Clusters(NamedTuple):
    """What cluster j has in common stands at start[j] : start[j] + width[j], and never grows.

    With lcg=exact it is m_S(v) = min over t in S of c_t(v), the number of items of t at or below v. With lcg=buig it is
    the common generalization itself: how many copies of v.
    """

    start: np.ndarray  # int64
    width: np.ndarray  # int64: the nodes v with m(v) > 0
    node: np.ndarray  # int32
    m: np.ndarray  # int32
    size: np.ndarray  # int64: members
    items: np.ndarray  # int64: sum of |t| over the members
    saved: np.ndarray  # int64: what the common generalization saves per member, against suppressing all
    following: np.ndarray  # int64: the next open cluster after each; the last entry is the first open one


class Losses(NamedTuple):
    """What it costs to publish a node of the taxonomy, and what it saves."""

    parent: np.ndarray  # int32, -1 at the root
    gain: np.ndarray  # int64: leaves(parent(v)) - leaves(v), 0 at the root: what v saves beyond its parent
    saved: np.ndarray  # int64: leaves(root) - leaves(v): what an item published as v saves
    worst: int  # leaves(root) - 1: what a suppressed item costs


class Bench(NamedTuple):
    """Room to lay out one transaction: c(v) for every node, and the nodes where it is not 0."""

    c: np.ndarray  # int32
    held: np.ndarray  # int32
    unmatched: np.ndarray  # int32, nodes x 2: the R of Algorithm 5.6, 0 between two uses
    copies: np.ndarray  # int32: for each node held, its copies in the common generalization (lcg=buig)


def losses_of(taxonomy: Taxonomy) -> Losses:
    leaves, parent = taxonomy.leaves, taxonomy.parent
    gain = np.where(parent >= 0, leaves[parent] - leaves, 0)
    return Losses(parent, gain, leaves[0] - leaves, int(leaves[0]) - 1)


def new_bench(nodes: int) -> Bench:
    room = [np.zeros(shape, dtype=np.int32) for shape in (nodes, nodes, (nodes, 2), nodes)]
    return Bench(*room)


@njit(cache=True)
def lay_out(t: int, columns: Columns, bench: Bench, sort: bool) -> int:
    """Set c_t(v) on the bench; gives the number of nodes held, if wanted with every child before its parent."""
    held = 0
    for x in range(columns.start[t], columns.start[t + 1]):
        i = columns.item[x]
        for p in range(columns.path_start[i], columns.path_start[i + 1]):
            v = columns.path[p]
            if bench.c[v] == 0:
                bench.held[held] = v
                held += 1
            bench.c[v] += columns.copies[x]
    if sort:
        bench.held[:held] = -np.sort(-bench.held[:held])
    return held


@njit(cache=True)
def clear(held: int, bench: Bench) -> None:
    for h in range(held):
        bench.c[bench.held[h]] = 0


def open_clusters(seeds: np.ndarray, length: np.ndarray, columns: Columns, losses: Losses, exact: bool) -> Clusters:
    """One cluster per seed, all open."""
    bench = new_bench(len(losses.parent))
    width = _widths(seeds, columns, bench)
    start = np.concatenate([[0], np.cumsum(width)]).astype(np.int64)
    node, m = np.empty(start[-1], dtype=np.int32), np.empty(start[-1], dtype=np.int32)
    size = np.ones(len(seeds), dtype=np.int64)
    items = length[seeds].astype(np.int64)
    clusters = Clusters(start, width, node, m, size, items, items * losses.worst, _all_open(len(seeds)))
    if exact:
        _copy_counts(seeds, columns, clusters, bench)
    else:
        _copy_items(seeds, columns, clusters)
    return clusters


@njit(cache=True)
def _widths(seeds: np.ndarray, columns: Columns, bench: Bench) -> np.ndarray:
    width = np.empty(len(seeds), dtype=np.int64)
    for j in range(len(seeds)):
        width[j] = lay_out(seeds[j], columns, bench, False)
        clear(width[j], bench)
    return width


@njit(cache=True)
def _copy_counts(seeds: np.ndarray, columns: Columns, clusters: Clusters, bench: Bench) -> None:
    for j in range(len(seeds)):
        held = lay_out(seeds[j], columns, bench, False)
        for h in range(held):
            clusters.node[clusters.start[j] + h] = bench.held[h]
            clusters.m[clusters.start[j] + h] = bench.c[bench.held[h]]
        clear(held, bench)


@njit(cache=True)
def _copy_items(seeds: np.ndarray, columns: Columns, clusters: Clusters) -> None:
    for j in range(len(seeds)):
        first = columns.start[seeds[j]]
        clusters.width[j] = columns.start[seeds[j] + 1] - first
        for x in range(clusters.width[j]):
            clusters.node[clusters.start[j] + x] = columns.path[columns.path_start[columns.item[first + x] + 1] - 1]
            clusters.m[clusters.start[j] + x] = columns.copies[first + x]


def reopened(clusters: Clusters) -> Clusters:
    """The same clusters, all open again."""
    return clusters._replace(following=_all_open(len(clusters.size)))


def _all_open(clusters: int) -> np.ndarray:
    return np.concatenate([np.arange(1, clusters + 1), [0]]).astype(np.int64)


@njit(cache=True)
def saved_by_counts(j: int, clusters: Clusters, losses: Losses, bench: Bench) -> np.int64:
    """Sum over v of min(m(v), c(v)) * gain(v): what one member saves against suppressing all of it."""
    total = np.int64(0)
    for x in range(clusters.start[j], clusters.start[j] + clusters.width[j]):
        v = clusters.node[x]
        total += np.int64(min(clusters.m[x], bench.c[v])) * losses.gain[v]
    return total


@njit(cache=True)
def join_counts(j: int, clusters: Clusters, bench: Bench) -> None:
    """m of a union is the elementwise minimum (Lemma 4.1.1); nodes where it is 0 are dropped in place."""
    end = clusters.start[j]
    for x in range(clusters.start[j], clusters.start[j] + clusters.width[j]):
        m = min(clusters.m[x], bench.c[clusters.node[x]])
        if m > 0:
            clusters.node[end], clusters.m[end] = clusters.node[x], m
            end += 1
    clusters.width[j] = end - clusters.start[j]


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


@njit(cache=True)
def saved_by_buig(
    j: int, t: int, length: int, held: int, columns: Columns, clusters: Clusters, losses: Losses, bench: Bench
) -> np.int64:
    """Algorithm 5.6 on the cluster's generalization and t; the result stays on the bench as `copies`.

    Below the nodes that t holds nothing is in common, so the walk over the whole taxonomy begins there.
    """
    left, shortest, total = bench.unmatched, np.int64(0), np.int64(0)
    for x in range(clusters.start[j], clusters.start[j] + clusters.width[j]):
        v = clusters.node[x]
        while bench.c[v] == 0:
            v = losses.parent[v]
        left[v, 0] += clusters.m[x]
        shortest += clusters.m[x]
    for x in range(columns.start[t], columns.start[t + 1]):
        left[columns.path[columns.path_start[columns.item[x] + 1] - 1], 1] = columns.copies[x]
    missing = min(shortest, np.int64(length))
    for h in range(held):
        v = bench.held[h]
        copies = np.int64(min(left[v, 0], left[v, 1])) if v > 0 else missing  # lines 6-7, and 10-11 at the root
        if copies == 0 and v > 0:
            left[losses.parent[v], 0] += left[v, 0]
            left[losses.parent[v], 1] += left[v, 1]
        left[v, 0] = left[v, 1] = 0
        bench.copies[h] = copies
        missing -= copies
        total += copies * losses.saved[v]
    return total


@njit(cache=True)
def join_copies(j: int, held: int, clusters: Clusters, bench: Bench) -> None:
    """Take over what BUIG left on the bench."""
    end = clusters.start[j]
    for h in range(held):
        if bench.copies[h] > 0:
            clusters.node[end], clusters.m[end] = bench.held[h], bench.copies[h]
            end += 1
    clusters.width[j] = end - clusters.start[j]


@njit(cache=True)
def assign(
    transactions: np.ndarray,
    length: np.ndarray,
    columns: Columns,
    clusters: Clusters,
    losses: Losses,
    exact: bool,
    capacity: int,
    r: int,
    bench: Bench,
    cluster_of: np.ndarray,
) -> None:
    """Each transaction, in this order, joins that one of the first r open clusters whose GGD is then the least."""
    for t in transactions:
        held = lay_out(t, columns, bench, not exact)
        best, before = _cheapest(t, length[t], held, columns, clusters, losses, exact, r, bench)
        clusters.saved[best] = _saved(best, t, length[t], held, columns, clusters, losses, exact, bench)
        if exact:
            join_counts(best, clusters, bench)
        else:
            join_copies(best, held, clusters, bench)
        clusters.size[best] += 1
        clusters.items[best] += length[t]
        cluster_of[t] = best
        if clusters.size[best] >= capacity:
            clusters.following[before] = clusters.following[best]
        clear(held, bench)


@njit(cache=True)
def _saved(
    j: int,
    t: int,
    length: int,
    held: int,
    columns: Columns,
    clusters: Clusters,
    losses: Losses,
    exact: bool,
    bench: Bench,
) -> np.int64:
    """What the generalization of the cluster with t saves per member."""
    if exact:
        return saved_by_counts(j, clusters, losses, bench)
    return saved_by_buig(j, t, length, held, columns, clusters, losses, bench)


@njit(cache=True)
def _cost(j: int, length: int, saved: np.int64, clusters: Clusters, losses: Losses) -> np.int64:
    """GGD of the cluster with one more member of this length, where the generalization saves this much per member."""
    return (clusters.items[j] + length) * losses.worst - (clusters.size[j] + 1) * saved


@njit(cache=True)
def _least_cost(j: int, length: int, clusters: Clusters, losses: Losses) -> np.int64:
    """No less than this: the generalization saves at most all of the newcomer, and at most what it saves now.

    Clusters of very long transactions stay among the first open ones for long, since any other is cheaper; to look
    through their many nodes each time would make the whole grow faster than the log.
    """
    return _cost(j, length, min(np.int64(length * losses.worst), clusters.saved[j]), clusters, losses)


@njit(cache=True)
def _cheapest(
    t: int,
    length: int,
    held: int,
    columns: Columns,
    clusters: Clusters,
    losses: Losses,
    exact: bool,
    r: int,
    bench: Bench,
) -> tuple[int, int]:
    """That of the first r open clusters whose GGD with the transaction is the least, and the open one before it.

    The likeliest is tried first; then, of the others, only those whose bound does not rule them out.
    """
    head = len(clusters.size)
    likely, bound, seen = -1, np.int64(0), 0
    j = clusters.following[head]
    while j < head and seen < r:
        least = _least_cost(j, length, clusters, losses)
        if likely < 0 or least < bound:
            likely, bound = j, least
        j, seen = clusters.following[j], seen + 1
    saved = _saved(likely, t, length, held, columns, clusters, losses, exact, bench)
    best, best_before, best_cost = likely, -1, _cost(likely, length, saved, clusters, losses)
    before, j, seen = head, clusters.following[head], 0
    while j < head and seen < r:
        if j == likely:
            if best == likely:
                best_before = before
        elif _least_cost(j, length, clusters, losses) <= best_cost:
            saved = _saved(j, t, length, held, columns, clusters, losses, exact, bench)
            cost = _cost(j, length, saved, clusters, losses)
            if cost < best_cost or (cost == best_cost and j < best):  # the first of equals, as in the thesis
                best, best_before, best_cost = j, before, cost
        before, j, seen = j, clusters.following[j], seen + 1
    return best, best_before
