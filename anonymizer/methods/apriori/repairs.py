"""How is a set of items that too few users share repaired? Direct anonymization (DA), the compiled loops of Apriori.

Sets are looked at in the order of their items. A set under k is repaired by the cheapest rules, each of which lets all
items below a node become that node. What was found right stays right whatever is generalized later: a generalized item
is held by whoever held one of those that it replaces. So an item is looked at until no set that it begins is under k,
and only a rule that replaces it has its successor looked at again.
"""

from heapq import heappop, heappush
from typing import NamedTuple

import numpy as np
from numba import njit

from shoal.anonymizer.cuts import DE_BRUIJN, LOWEST, Nodes, are_held, highest
from shoal.anonymizer.transactions import Columns


class Cut(NamedTuple):
    """The cut so far."""

    at: np.ndarray  # int64: the node of each item
    is_in: np.ndarray  # bool per node: it is in the cut
    cost: np.ndarray  # int64 per node: the NCP of the cut below it, times the leaves of the taxonomy


class Level(NamedTuple):
    """What is needed to repair the sets of one size."""

    size: int
    k: int
    columns: Columns
    nodes: Nodes
    place: np.ndarray  # int64: where each node stands in the order of items
    ordered: np.ndarray  # int64: the nodes in that order
    row: np.ndarray  # int64: the row of each node in `bits`
    bits: np.ndarray  # uint64: the transactions that hold a node
    waits: np.ndarray  # bool per place: it is not yet known that all sets that begin there are right
    held: np.ndarray  # int64 per node, all 0: scratch
    right: np.ndarray  # int64 per node: an item such that all sets that begin with it and this node are right


def leaves_as_cut(nodes: Nodes, leaf: np.ndarray) -> Cut:
    """Every item as it is, which costs nothing."""
    is_in = np.zeros(len(nodes.parent), dtype=np.bool_)
    is_in[leaf] = True
    return Cut(leaf.copy(), is_in, np.zeros(len(nodes.parent), dtype=np.int64))


@njit(cache=True)
def _price(v: int, nodes: Nodes, cut: Cut) -> int:
    """What it costs more to have all items below v as v."""
    more: int = nodes.occurrences[v] * nodes.penalty[v] - cut.cost[v]
    return more


@njit(cache=True)
def _generalize(v: int, nodes: Nodes, cut: Cut) -> None:
    """The rule that all items below v are v."""
    more = _price(v, nodes, cut)
    for item in range(nodes.first[v], nodes.last[v]):
        cut.is_in[cut.at[item]] = False
        cut.at[item] = v
    cut.is_in[v] = True
    while v >= 0:
        cut.cost[v] += more
        v = nodes.parent[v]


@njit(cache=True)
def _is_before(some: np.ndarray, others: np.ndarray, nodes: Nodes) -> bool:
    """Whether the labels of some nodes come before those of others."""
    for i in range(len(some)):
        if some[i] != others[i]:
            return bool(nodes.label[some[i]] < nodes.label[others[i]])
    return False


@njit(cache=True)
def _cheapest_rules(items: np.ndarray, level: Level, cut: Cut) -> np.ndarray:
    """The nodes at or above some items that at least k users hold and that cost least; of equal ones, by label.

    The costs grow with every step up, so choices are made in the order of their cost. Each is reached once: an item is
    raised only while those after it stand where they were.
    """
    nodes = level.nodes
    waiting = [(np.int64(0), np.int64(0), np.int64(0))]  # cost, number of the choice, the item that was raised last
    choices = items.copy().reshape(1, -1)
    best, found, many = items, np.int64(-1), 1
    while len(waiting) > 0 and (found < 0 or waiting[0][0] == found):
        cost, number, raised = heappop(waiting)
        choice = choices[number].copy()
        if are_held(highest(choice, nodes), level.k, nodes, level.row, level.bits):
            if found < 0 or _is_before(choice, best, nodes):
                best = choice
            found = cost
        for i in range(raised, len(items)):
            if nodes.parent[choice[i]] >= 0:
                if many == len(choices):
                    choices = np.concatenate((choices, choices))
                choices[many] = choice
                choices[many, i] = nodes.parent[choice[i]]
                total = np.int64(0)
                for v in highest(choices[many], nodes):
                    total += _price(v, nodes, cut)
                heappush(waiting, (total, np.int64(many), np.int64(i)))
                many += 1
    return highest(best, nodes)


@njit(cache=True)
def _partners(rows: np.ndarray, after: int, most: int, level: Level, cut: Cut) -> np.ndarray:
    """The places, ascending, of the items after a place that some transactions (as bits) hold, but at most so many."""
    columns, place, held = level.columns, level.place, level.held
    seen, several = np.empty(len(held), dtype=np.int64), 0
    for word in range(len(rows)):
        left = rows[word]
        while left != 0:
            low = left & (~left + np.uint64(1))
            left ^= low
            t, last = 64 * word + LOWEST[(low * DE_BRUIJN) >> np.uint64(58)], np.int64(-1)
            for x in range(columns.start[t], columns.start[t + 1]):
                v = cut.at[columns.item[x]]
                if v != last and place[v] > after:  # items below one node stand side by side
                    if held[v] == 0:
                        seen[several] = v
                        several += 1
                    held[v] += 1
                last = v
    found = 0
    for v in seen[:several]:
        if held[v] <= most:
            seen[found] = place[v]
            found += 1
        held[v] = 0
    return np.sort(seen[:found])


@njit(cache=True)
def _first_under_k(item: int, level: Level, cut: Cut) -> np.ndarray:
    """The first set of which this item is the first that some user holds but fewer than k do, or none.

    All smaller sets are held by k users or nobody.
    """
    size, k, none = level.size, level.k, np.empty(0, dtype=np.int64)
    if size == 1:
        return np.array([item]) if level.nodes.users[item] < k else none
    all_of_them, chosen = len(level.columns.start), np.empty(size, dtype=np.int64)
    rows = np.empty((size, level.bits.shape[1]), dtype=np.uint64)
    partners, next_one = [none for _ in range(size)], np.zeros(size, dtype=np.int64)
    chosen[0], rows[0], depth = item, level.bits[level.row[item]], 0
    partners[0] = _partners(rows[0], level.place[item], k - 1 if size == 2 else all_of_them, level, cut)
    while depth >= 0:
        if next_one[depth] == len(partners[depth]):
            depth -= 1
            if depth == 0:
                level.right[chosen[1]] = item
            continue
        chosen[depth + 1] = level.ordered[partners[depth][next_one[depth]]]
        next_one[depth] += 1
        if depth + 2 == size:
            return chosen
        if depth > 0 or level.right[chosen[1]] != item:
            depth += 1
            rows[depth] = rows[depth - 1] & level.bits[level.row[chosen[depth]]]
            most, next_one[depth] = k - 1 if depth + 2 == size else all_of_them, 0
            partners[depth] = _partners(rows[depth], level.place[chosen[depth]], most, level, cut)
    return none


@njit(cache=True)
def repair(level: Level, cut: Cut, looks: int, begin: int) -> int:
    """DA from a place in the order of items on, for so many looks at items. Gives the place to go on from."""
    while begin < len(level.waits) and looks > 0:
        if not level.waits[begin]:
            begin += 1
            continue
        item, looks = level.ordered[begin], looks - 1
        found = _first_under_k(item, level, cut) if cut.is_in[item] else np.empty(0, dtype=np.int64)
        level.waits[begin] = len(found) > 0
        if len(found) > 0:
            for v in _cheapest_rules(found, level, cut):
                if not cut.is_in[v]:
                    _generalize(v, level.nodes, cut)
                    level.waits[level.place[v]] = True
                    begin = min(begin, level.place[v])
    return begin
