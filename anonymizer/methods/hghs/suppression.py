"""Which items of a cut are left out? Threats, the smallest sets that too few users share, and a greedy way to end them.

The compiled loops of HgHs. A threat is a set of items of the cut that somebody holds but fewer than k do, and no part
of which is one. To leave an item out of all profiles ends the threats that it is in and makes no new ones.
"""

from typing import NamedTuple

import numpy as np
from numba import njit

from shoal.anonymizer.cuts import Nodes, are_held


class Threats(NamedTuple):
    """The items of threat i are item[start[i]:start[i + 1]]."""

    start: np.ndarray  # int64
    item: np.ndarray  # int64: nodes


class Search(NamedTuple):
    """What does not change from cut to cut."""

    k: int
    m: int
    nodes: Nodes
    row: np.ndarray  # int64: the row of each node in `bits`
    bits: np.ndarray  # uint64: the transactions that hold a node
    below_start: np.ndarray  # int64: what v becomes is below[below_start[v]:below_start[v + 1]]
    below: np.ndarray  # int64
    threats_with: np.ndarray  # int64 per node, all 0: scratch
    left_out: int  # what an occurrence costs that is left out: the leaves of the taxonomy
    sharing: dict[int, int]  # of pairs of nodes met so far, how many transactions hold both, but k at most


def no_threats() -> Threats:
    return Threats(np.zeros(1, dtype=np.int64), np.empty(0, dtype=np.int64))


@njit(cache=True)
def _common(rows: np.ndarray, others: np.ndarray, k: int) -> int:
    """How many transactions are in both, but k at most."""
    found = 0
    for word in range(len(rows)):
        both = rows[word] & others[word]
        while both != 0:
            both &= both - np.uint64(1)
            found += 1
            if found == k:
                return k
    return found


@njit(cache=True)
def _sharing(x: int, y: int, search: Search) -> int:
    """How many transactions hold both nodes, but k at most; counted once, as most cuts tried have the same pairs."""
    pair = min(x, y) * len(search.row) + max(x, y)
    if pair not in search.sharing:
        search.sharing[pair] = _common(search.bits[search.row[x]], search.bits[search.row[y]], search.k)
    return search.sharing[pair]


@njit(cache=True)
def _is_smallest(some: np.ndarray, search: Search) -> bool:
    """Whether a set without any one of its items is held by k users; without the last it is."""
    for gone in range(len(some) - 1):
        fewer = np.concatenate((some[:gone], some[gone + 1 :]))
        if not are_held(fewer, search.k, search.nodes, search.row, search.bits):
            return False
    return True


@njit(cache=True)
def _new_threats(v: int, cut: np.ndarray, search: Search) -> list[np.ndarray]:
    """The threats that come when v becomes what is below it: all that have one of these."""
    k, nodes, bits, row = search.k, search.nodes, search.bits, search.row
    below = search.below[search.below_start[v] : search.below_start[v + 1]]
    found = [below[i : i + 1] for i in range(len(below)) if nodes.users[below[i]] < k]
    common = [x for x in below if nodes.users[x] >= k]
    new = len(common)
    common += [x for x in cut if x != v and nodes.users[x] >= k]
    items = np.array(common)
    deepest = min(search.m, len(items)) - 1
    if deepest < 1:
        return found
    rows = np.empty((deepest, bits.shape[1]), dtype=np.uint64)
    chosen, depth = np.empty(deepest + 1, dtype=np.int64), 0
    for first in range(new):
        chosen[0], rows[0], depth = first, bits[row[items[first]]], 0
        chosen[1] = first
        while depth >= 0:
            chosen[depth + 1] += 1
            if chosen[depth + 1] == len(items):
                depth -= 1
                continue
            last = items[chosen[depth + 1]]
            more = bits[row[last]]
            held = _sharing(items[first], last, search) if depth == 0 else _common(rows[depth], more, k)
            if 0 < held < k:
                some = items[chosen[: depth + 2]]
                if depth == 0 or _is_smallest(some, search):  # each of a pair is held by k users
                    found.append(some)
            elif held == k and depth + 1 < deepest:
                rows[depth + 1] = rows[depth] & more
                depth += 1
                chosen[depth + 1] = chosen[depth]
    return found


@njit(cache=True)
def threats_below(v: int, cut: np.ndarray, threats: Threats, search: Search) -> Threats:
    """The threats of a cut in which v became what is below it."""
    new, many, length = _new_threats(v, cut, search), len(threats.start) - 1, len(threats.item)
    start = np.zeros(many + len(new) + 1, dtype=np.int64)
    item = np.empty(length + sum([len(some) for some in new]), dtype=np.int64)
    kept = 0
    for i in range(many):
        some, is_left = threats.item[threats.start[i] : threats.start[i + 1]], True
        for x in some:
            is_left = is_left and x != v
        if is_left:
            start[kept + 1] = start[kept] + len(some)
            item[start[kept] : start[kept + 1]] = some
            kept += 1
    for some in new:
        start[kept + 1] = start[kept] + len(some)
        item[start[kept] : start[kept + 1]] = some
        kept += 1
    return Threats(start[: kept + 1], item[: start[kept]])


@njit(cache=True)
def _by_item(threats: Threats, search: Search) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The items of threats, where the threats of each start, and their numbers. Counts them besides."""
    count = search.threats_with
    for x in threats.item:
        count[x] += 1
    items = np.flatnonzero(count)
    start, filled = np.zeros(len(items) + 1, dtype=np.int64), np.empty(len(count), dtype=np.int64)
    for i in range(len(items)):
        filled[items[i]], start[i + 1] = start[i], start[i] + count[items[i]]
    number = np.empty(start[-1], dtype=np.int64)
    for t in range(len(threats.start) - 1):
        for x in threats.item[threats.start[t] : threats.start[t + 1]]:
            number[filled[x]] = t
            filled[x] += 1
    return items, start, number


@njit(cache=True)
def suppress(threats: Threats, search: Search) -> np.ndarray:
    """Items to leave out so that no threat is left: always that with most threats for each occurrence that is lost.

    Of equal ones the last by label, so that the first is kept.
    """
    count, nodes = search.threats_with, search.nodes
    items, start, number = _by_item(threats, search)
    gone, ended = np.empty(len(items), dtype=np.int64), np.zeros(len(threats.start) - 1, dtype=np.bool_)
    many, left = 0, len(ended)
    while left > 0:
        best = 0
        for i in range(1, len(items)):
            x, y = items[i], items[best]
            one, other = count[x] * nodes.occurrences[y], count[y] * nodes.occurrences[x]
            if one > other or (one == other and nodes.label[x] > nodes.label[y]):
                best = i
        gone[many], many = items[best], many + 1
        for t in number[start[best] : start[best + 1]]:
            if not ended[t]:
                ended[t], left = True, left - 1
                for x in threats.item[threats.start[t] : threats.start[t + 1]]:
                    count[x] -= 1
    return gone[:many]


@njit(cache=True)
def _loss(some: np.ndarray, nodes: Nodes) -> int:
    """What nodes cost that are published."""
    total = 0
    for x in some:
        total += nodes.occurrences[x] * nodes.penalty[x]
    return total


@njit(cache=True)
def cost(cut: np.ndarray, gone: np.ndarray, search: Search) -> int:
    """cost_G of the items of a cut that are published, and cost_S of the others."""
    lost = 0
    for x in gone:
        lost += search.nodes.occurrences[x] * search.left_out
    return _loss(cut, search.nodes) - _loss(gone, search.nodes) + lost


@njit(cache=True)
def _least_below(v: int, cut: np.ndarray, search: Search) -> int:
    """What it costs at least when v becomes what is below it: items that too few users hold must be left out."""
    nodes, total = search.nodes, 0
    for some in (cut, search.below[search.below_start[v] : search.below_start[v + 1]]):
        for x in some:
            if x != v:
                total += nodes.occurrences[x] * (nodes.penalty[x] if nodes.users[x] >= search.k else search.left_out)
    return total


@njit(cache=True)
def costs_below(some: np.ndarray, cut: np.ndarray, threats: Threats, least: int, search: Search) -> np.ndarray:
    """What it costs, for each of some nodes of the cut, when it becomes what is below it.

    Where it cannot cost less than `least`, only a number that is not less either.
    """
    found = np.empty(len(some), dtype=np.int64)
    for i in range(len(some)):
        v = some[i]
        found[i] = _least_below(v, cut, search)
        if found[i] < least:
            below = search.below[search.below_start[v] : search.below_start[v + 1]]
            gone = suppress(threats_below(v, cut, threats, search), search)
            found[i] = cost(cut, gone, search) + _loss(below, search.nodes) - _loss(some[i : i + 1], search.nodes)
    return found
