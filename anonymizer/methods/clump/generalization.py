"""What do a cluster and a transaction have in common? The least common generalization in closed form, and by BUIG."""

import numpy as np
from numba import njit

from shoal.anonymizer.methods.clump.clusters import Bench, Clusters, Losses
from shoal.anonymizer.transactions import Columns


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
