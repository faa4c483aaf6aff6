"""How does the thesis say it? Algorithm 4.5 (Clump) and Algorithm 5.6 (BUIG), line by line, with no shortcut.

A tree is the parent of each node (a parent comes before its children, -1 at the root) and a bag is {node: copies}.
Distortions are whole numbers: GGD times (leaves of the root - 1).
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import permutations

import numpy as np
from numba import njit

Bag = dict[int, int]


@dataclass(frozen=True, eq=False)
class Tree:
    parent: np.ndarray

    @cached_property
    def children(self) -> list[list[int]]:
        below: list[list[int]] = [[] for _ in self.parent]
        for v in range(1, len(self.parent)):
            below[self.parent[v]].append(v)
        return below

    @cached_property
    def LM(self) -> list[int]:
        """Definition 3.2.2, times (leaves of the root - 1)."""
        leaves = [0] * len(self.parent)
        for v in range(len(self.parent) - 1, -1, -1):
            leaves[v] = leaves[v] or 1
            if v:
                leaves[self.parent[v]] += leaves[v]
        return [count - 1 for count in leaves]


def generalizes(tree: Tree, general: Sequence[int], special: Sequence[int]) -> bool:
    """Definition 3.1.1: each item of `general` is at or above a distinct item of `special`."""
    return any(
        all(_at_or_above(tree, g, s) for g, s in zip(general, chosen, strict=True))
        for chosen in permutations(special, len(general))
    )


def _at_or_above(tree: Tree, general: int, special: int) -> bool:
    while special > general:
        special = int(tree.parent[special])
    return special == general


LCG = Callable[[Tree, Sequence[Bag]], Bag]


def lcg_by_definition(tree: Tree, transactions: Sequence[Bag]) -> Bag:
    """Definition 3.2.1: of each node, the items that every transaction has there and no child of it represents."""
    counts = [_items_below(tree, t) for t in transactions]
    lcg = {}
    for v in set.intersection(*(set(count) for count in counts)):
        in_common = min(count[v] for count in counts)
        represented = sum(min(count.get(w, 0) for count in counts) for w in tree.children[v])
        if in_common > represented:
            lcg[v] = in_common - represented
    return lcg


def _items_below(tree: Tree, bag: Bag) -> Bag:
    count: Bag = {}
    for item, copies in bag.items():
        v = item
        while v >= 0:
            count[v] = count.get(v, 0) + copies
            v = int(tree.parent[v])
    return count


def lcg_by_buig(tree: Tree, transactions: Sequence[Bag]) -> Bag:
    """Algorithm 5.6. It can miss the least common generalization, and gives a more general one.

    R counts items, as the text says of it; line 4 sets it to 1, which is the same on sets.
    """
    R = np.zeros((len(tree.parent), len(transactions)), dtype=np.int64)
    for j, t in enumerate(transactions):
        for item, copies in t.items():
            R[item, j] = copies
    nodes, copies_of = _buig(tree.parent, R, min(sum(t.values()) for t in transactions))
    return dict(zip(nodes.tolist(), copies_of.tolist(), strict=True))


@njit(cache=True)
def _buig(parent: np.ndarray, R: np.ndarray, shortest: int) -> tuple[np.ndarray, np.ndarray]:
    """Every child before its parent; compiled, so that a comparison of speed compares algorithms only."""
    nodes = [np.int64(0) for _ in range(0)]
    copies = [np.int64(0) for _ in range(0)]
    length = 0
    for i in range(len(parent) - 1, 0, -1):
        min_count = R[i, 0]
        for j in range(1, R.shape[1]):
            min_count = min(min_count, R[i, j])
        if min_count > 0:
            nodes.append(np.int64(i))
            copies.append(min_count)
            length += min_count
        else:
            for j in range(R.shape[1]):
                R[parent[i], j] += R[i, j]
    if shortest > length:
        nodes.append(np.int64(0))
        copies.append(np.int64(shortest - length))
    return np.array(nodes), np.array(copies)


def distortion(tree: Tree, items: int, members: int, lcg: Bag) -> int:
    """Definition 3.2.3: GGD = |S| * sum of LM(i) over the LCG + the number of suppressed items."""
    suppressed = items - members * sum(lcg.values())
    return members * sum(copies * tree.LM[v] for v, copies in lcg.items()) + suppressed * tree.LM[0]


@dataclass
class Cluster:
    members: list[int]
    items: int
    lcg: Bag


def clump(
    tree: Tree, transactions: Sequence[Bag], order: Sequence[int], k: int, r: int, lcg: LCG = lcg_by_definition
) -> list[Cluster]:
    """Algorithm 4.5 over the transactions in this order, the first r clusters with room tried for each."""
    n = len(order) // k
    seeds = [order[i * k] for i in range(n)]
    clusters = [Cluster([t], sum(transactions[t].values()), transactions[t]) for t in seeds]
    taken = set(seeds)
    for t in [t for t in order if t not in taken]:
        with_room = [cluster for cluster in clusters if len(cluster.members) < k][:r]
        _place(tree, t, transactions[t], with_room or clusters, lcg)
    return clusters


def _place(tree: Tree, t: int, bag: Bag, clusters: Sequence[Cluster], lcg: LCG) -> None:
    length = sum(bag.values())
    joined = [lcg(tree, [cluster.lcg, bag]) for cluster in clusters]  # Lemma 4.1.1
    costs = [
        distortion(tree, cluster.items + length, len(cluster.members) + 1, common)
        for cluster, common in zip(clusters, joined, strict=True)
    ]
    best = costs.index(min(costs))
    clusters[best].members.append(t)
    clusters[best].items += length
    clusters[best].lcg = joined[best]
