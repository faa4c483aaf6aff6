"""Which occurrences of two vocabularies go together best? A sparse bipartite matching of the greatest gain.

Which terms are relevant to each other? Those at most epsilon edges apart in the taxonomy (Definition 3).
"""

from dataclasses import dataclass
from heapq import heappop, heappush

import numpy as np
from numba import njit

from shoal.corpus.errors import InputError
from shoal.corpus.knowledge.taxonomy import Taxonomy

FAR = np.iinfo(np.int64).max // 4


@njit(cache=True)
def best_matching(
    supply: np.ndarray, start: np.ndarray, right: np.ndarray, gain: np.ndarray, capacity: np.ndarray
) -> np.ndarray:
    """How many units flow over each edge when the sum of their gains is greatest.

    Left node i has supply[i] units and the edges start[i]:start[i + 1], each to a right node that takes capacity[j]
    units, at a positive whole gain per unit. Units may stay unmatched. Left nodes come in one after the other, each
    along shortest augmenting paths under prices (the Hungarian method on sparse graphs), so that work stays where
    nodes compete: connected components never see each other.
    """
    flow = np.zeros(len(right), np.int64)
    price = np.zeros(len(capacity), np.int64)
    spare = capacity.copy()
    into_start, into, left_of = _edges_into(start, right, len(capacity))
    distance = np.full(len(capacity), FAR, np.int64)
    reached_by = np.full(len(capacity), -1, np.int64)
    instead_of = np.full(len(capacity), -1, np.int64)
    for i in range(len(supply)):
        units = supply[i]
        while units > 0:
            best, least = -1, 0
            for e in range(start[i], start[i + 1]):
                loss = price[right[e]] - gain[e]
                if loss < least or (loss == least and best >= 0 and spare[right[best]] == 0):
                    best, least = e, loss
            if best < 0:
                break
            if spare[right[best]] > 0:
                amount = min(units, spare[right[best]])
                flow[best] += amount
                spare[right[best]] -= amount
                units -= amount
                continue
            last, freed = _shortest_path(
                i, start, right, gain, spare, flow, price, into_start, into, left_of, distance, reached_by, instead_of
            )
            if last < 0 and freed < 0:
                break
            units -= _push(last, freed, units, right, flow, spare, reached_by, instead_of)
    return flow


@njit(cache=True)
def _edges_into(start: np.ndarray, right: np.ndarray, nodes: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    into_start = np.zeros(nodes + 1, np.int64)
    for e in range(len(right)):
        into_start[right[e] + 1] += 1
    for j in range(nodes):
        into_start[j + 1] += into_start[j]
    place = into_start[:-1].copy()
    into, left_of = np.empty(len(right), np.int64), np.empty(len(right), np.int64)
    for i in range(len(start) - 1):
        for e in range(start[i], start[i + 1]):
            left_of[e] = i
            into[place[right[e]]] = e
            place[right[e]] += 1
    return into_start, into, left_of


@njit(cache=True)
def _shortest_path(
    i: int, start: np.ndarray, right: np.ndarray, gain: np.ndarray, spare: np.ndarray, flow: np.ndarray,
    price: np.ndarray, into_start: np.ndarray, into: np.ndarray, left_of: np.ndarray,
    distance: np.ndarray, reached_by: np.ndarray, instead_of: np.ndarray,
) -> tuple[np.int64, np.int64]:  # fmt: skip
    """The cheapest way to place one more unit of i: (last edge, -1) to a node with room, or (-1, edge that gives up).

    (-1, -1) means that i's unit had better stay unmatched. A full right node is left by an edge with flow, whose left
    node then takes another edge (distance grows by the loss, never negative under the prices) or stays unmatched.
    """
    # Of nodes at the same distance those with room come first: with many equal distances, that ends most searches.
    heap = [(np.int64(0), 0, np.int64(-1))]
    heap.pop()
    touched = [np.int64(-1)]
    touched.pop()
    for e in range(start[i], start[i + 1]):
        j = right[e]
        if price[j] - gain[e] < distance[j]:
            distance[j], reached_by[j], instead_of[j] = price[j] - gain[e], e, -1
            touched.append(j)
            heappush(heap, (distance[j], int(spare[j] == 0), np.int64(j)))
    least, last, freed = np.int64(0), np.int64(-1), np.int64(-1)
    while len(heap) > 0:
        reached, _, j = heappop(heap)
        if reached >= least:
            break
        if reached > distance[j]:
            continue
        if spare[j] > 0:
            least, last, freed = reached, reached_by[j], np.int64(-1)
            break
        for x in range(into_start[j], into_start[j + 1]):
            old = into[x]
            if flow[old] == 0:
                continue
            lost = reached + gain[old] - price[j]
            if lost < least:
                least, last, freed = lost, np.int64(-1), old
            for e in range(start[left_of[old]], start[left_of[old] + 1]):
                other = right[e]
                if lost - gain[e] + price[other] < distance[other]:
                    distance[other] = lost - gain[e] + price[other]
                    reached_by[other], instead_of[other] = e, old
                    touched.append(other)
                    heappush(heap, (distance[other], int(spare[other] == 0), np.int64(other)))
    for j in touched:
        if distance[j] < least:
            price[j] += least - distance[j]
        distance[j] = FAR
    return last, freed


@njit(cache=True)
def _push(
    last: np.int64, freed: np.int64, units: int, right: np.ndarray, flow: np.ndarray, spare: np.ndarray,
    reached_by: np.ndarray, instead_of: np.ndarray,
) -> int:  # fmt: skip
    """Send as many units as the path carries, and give their number."""
    end = right[last] if freed < 0 else right[freed]
    amount = min(units, spare[end] if freed < 0 else flow[freed])
    node = end
    while instead_of[node] >= 0:
        amount = min(amount, flow[instead_of[node]])
        node = right[instead_of[node]]
    if freed < 0:
        spare[end] -= amount
    else:
        flow[freed] -= amount
    node = end
    while True:
        flow[reached_by[node]] += amount
        if instead_of[node] < 0:
            return amount
        flow[instead_of[node]] -= amount
        node = right[instead_of[node]]


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
