"""Which cluster takes a transaction at the least distortion? The compiled inner loops of Clump, Algorithm 4.5."""

import numpy as np
from numba import njit

from shoal.anonymizer.methods.clump.clusters import (
    Bench,
    Clusters,
    Losses,
    clear,
    join_copies,
    join_counts,
    lay_out,
    saved_by_buig,
    saved_by_counts,
)
from shoal.anonymizer.transactions import Columns


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
