"""Which node does a partition expand, and who goes where? The compiled inner loops of Partition.

All transactions of a partition are generalized to the same nodes, its cut. Each item remembers the depth of its cut
node, and whether that node stays as it is ("kept") because expanding it would leave a part below k.
"""

from typing import NamedTuple

import numpy as np
from numba import njit

from shoal.anonymizer.transactions import Columns


class Tree(NamedTuple):
    end: np.ndarray
    depth: np.ndarray
    leaves: np.ndarray


class State(NamedTuple):
    """A partition is a stretch of `order`; those not finished yet are on a stack."""

    order: np.ndarray  # int64: transactions
    depth: np.ndarray  # int16 per item: the depth of its cut node
    kept: np.ndarray  # bool per item: its cut node is not expanded any more
    begin: np.ndarray  # int64: the stack
    end: np.ndarray
    waiting: np.ndarray  # int64[1]: the height of the stack
    done: np.ndarray  # int64: the group of each transaction
    groups: np.ndarray  # int64[1]


class Split(NamedTuple):
    """The part of each transaction of a partition, -1 for the leftover, and the number of parts."""

    part: np.ndarray
    parts: int


def new_state(columns: Columns) -> State:
    """One partition with every item at the root."""
    n = len(columns.start) - 1
    begin, end = np.zeros(n + 1, dtype=np.int64), np.zeros(n + 1, dtype=np.int64)
    end[0] = n
    items = len(columns.item)
    return State(
        np.arange(n), np.zeros(items, dtype=np.int16), np.zeros(items, dtype=bool), begin, end,
        np.ones(1, dtype=np.int64), np.full(n, -1), np.zeros(1, dtype=np.int64),
    )  # fmt: skip


@njit(cache=True)
def _expandable(rows: np.ndarray, columns: Columns, tree: Tree, state: State, gain: np.ndarray) -> np.ndarray:
    """The nodes of the cut that may be expanded, the one that lowers the loss most first, ties in the tree's order.

    Expanding v lowers the NCP of each item below v from LM(v) to LM of the child above it; `gain` is scratch, all -1.
    """
    nodes = [np.int64(0) for _ in range(0)]
    for t in rows:
        for x in range(columns.start[t], columns.start[t + 1]):
            place = columns.path_start[columns.item[x]] + state.depth[x]
            if state.kept[x] or place + 1 == columns.path_start[columns.item[x] + 1]:
                continue
            v, child = columns.path[place], columns.path[place + 1]
            if gain[v] < 0:
                gain[v] = 0
                nodes.append(np.int64(v))
            gain[v] += tree.leaves[v] - tree.leaves[child]
    cut = np.array(nodes, dtype=np.int64)
    cut.sort()
    gains = gain[cut]
    gain[cut] = -1
    return cut[np.argsort(-gains, kind="mergesort")]


@njit(cache=True)
def _first_below(t: int, v: int, columns: Columns) -> np.int64:
    """The first item of t that is not left of v in the tree; items are in the tree's order."""
    low, high = columns.start[t], columns.start[t + 1]
    while low < high:
        middle = (low + high) // 2
        if columns.path[columns.path_start[columns.item[middle] + 1] - 1] < v:
            low = middle + 1
        else:
            high = middle
    return low


@njit(cache=True)
def _is_below(x: np.int64, t: int, v: int, columns: Columns, tree: Tree) -> bool:
    if x >= columns.start[t + 1]:
        return False
    return columns.path[columns.path_start[columns.item[x] + 1] - 1] < tree.end[v]


@njit(cache=True)
def _slot(key: np.int64, keys: np.ndarray) -> np.int64:
    """Where a key stands, or may stand, in an open hash table whose length is a power of two; -1 is empty."""
    mask = len(keys) - 1
    slot = (key ^ (key >> 17) ^ (key >> 31)) * 0x9E3779B1 & mask
    while keys[slot] != -1 and keys[slot] != key:
        slot = (slot + 1) & mask
    return slot


@njit(cache=True)
def _room(rows: np.ndarray, v: int, columns: Columns, tree: Tree) -> int:
    """A power of two, at least twice the items below v."""
    items = 0
    for t in rows:
        x = _first_below(t, v, columns)
        while _is_below(x, t, v, columns, tree):
            items, x = items + 1, x + 1
    room = 2
    while room < 2 * items:
        room *= 2
    return room


@njit(cache=True)
def _classes(rows: np.ndarray, v: int, columns: Columns, tree: Tree) -> tuple[np.ndarray, np.ndarray, int]:
    """The set of v's children that each transaction holds, as a number, and what it would lose without them.

    Sets are numbered exactly, by walking a trie: (number of the set so far, next child) -> number.
    """
    keys = np.full(_room(rows, v, columns, tree), -1, dtype=np.int64)
    values = np.empty(len(keys), dtype=np.int64)
    held, loss = np.empty(len(rows), dtype=np.int64), np.zeros(len(rows), dtype=np.int64)
    nodes = np.int64(len(tree.end))
    numbers = 1
    for p in range(len(rows)):
        t = rows[p]
        number, last = np.int64(0), np.int64(-1)
        x = _first_below(t, v, columns)
        while _is_below(x, t, v, columns, tree):
            child = np.int64(columns.path[columns.path_start[columns.item[x]] + tree.depth[v] + 1])
            loss[p] += tree.leaves[v] - tree.leaves[child]
            if child != last:
                slot = _slot(number * nodes + child, keys)
                if keys[slot] < 0:
                    keys[slot], values[slot] = number * nodes + child, numbers
                    numbers += 1
                number, last = values[slot], child
            x += 1
        held[p] = number
    return held, loss, numbers


@njit(cache=True)
def _parts(held: np.ndarray, numbers: int, k: int) -> Split:
    """Sets held by at least k transactions, numbered as they come; the others are the leftover, -1."""
    size = np.zeros(numbers, dtype=np.int64)
    for number in held:
        size[number] += 1
    name = np.full(numbers, -1, dtype=np.int64)
    part = np.full(len(held), -1, dtype=np.int64)
    parts = 0
    for p in range(len(held)):
        if size[held[p]] >= k:
            if name[held[p]] < 0:
                name[held[p]] = parts
                parts += 1
            part[p] = name[held[p]]
    return Split(part, parts)


@njit(cache=True)
def _balanced(split: Split, loss: np.ndarray, k: int) -> Split:
    """A leftover under k takes transactions that parts can spare, those that lose least first.

    Where they cannot spare enough, the part that loses least joins the leftover whole; a part alone is no split.
    """
    part, parts = split
    size = np.zeros(parts, dtype=np.int64)
    total = np.zeros(parts, dtype=np.int64)
    for p in range(len(part)):
        if part[p] >= 0:
            size[part[p]] += 1
            total[part[p]] += loss[p]
    need = k - (len(part) - size.sum())
    if need == k or need <= 0:
        return split
    if (size - k).sum() >= need:
        for p in np.argsort(loss, kind="mergesort"):
            if need > 0 and part[p] >= 0 and size[part[p]] > k:
                size[part[p]] -= 1
                part[p] = -1
                need -= 1
        return split
    if parts < 2:
        return Split(part, 0)
    least = np.argmin(total)
    for p in range(len(part)):
        if part[p] == least:
            part[p] = -1
    return split


@njit(cache=True)
def _apply(v: int, first: int, rows: np.ndarray, split: Split, columns: Columns, tree: Tree, state: State) -> None:
    """Sort the partition by parts, the leftover last; items below v go one level down, and are kept in the leftover."""
    size = np.zeros(split.parts + 1, dtype=np.int64)
    for p in range(len(rows)):
        size[split.part[p]] += 1  # -1 is the last
    place = first + np.cumsum(size) - size
    for i in range(split.parts + 1):
        if size[i] > 0:
            state.begin[state.waiting[0]] = place[i]
            state.end[state.waiting[0]] = place[i] + size[i]
            state.waiting[0] += 1
    for p in range(len(rows)):
        t = rows[p]
        state.order[place[split.part[p]]] = t
        place[split.part[p]] += 1
        x = _first_below(t, v, columns)
        while _is_below(x, t, v, columns, tree):
            if split.part[p] < 0:
                state.kept[x] = True
            else:
                state.depth[x] += 1
            x += 1


@njit(cache=True)
def _keep(v: int, rows: np.ndarray, columns: Columns, tree: Tree, state: State) -> None:
    for t in rows:
        x = _first_below(t, v, columns)
        while _is_below(x, t, v, columns, tree):
            state.kept[x] = True
            x += 1


@njit(cache=True)
def drill_down(columns: Columns, tree: Tree, state: State, k: int, gain: np.ndarray, budget: int) -> int:
    """Algorithm 2.4 on the partitions that wait, until all are done or the budget of visited items is used up.

    Gives the number of transactions that are in their final group by now.
    """
    finished = 0
    while state.waiting[0] > 0 and budget > 0:
        state.waiting[0] -= 1
        first, last = state.begin[state.waiting[0]], state.end[state.waiting[0]]
        rows = state.order[first:last].copy()
        for t in rows:
            budget -= columns.start[t + 1] - columns.start[t]
        expanded = False
        for v in _expandable(rows, columns, tree, state, gain):
            held, loss, numbers = _classes(rows, v, columns, tree)
            split = _balanced(_parts(held, numbers, k), loss, k)
            if split.parts > 0:
                _apply(v, first, rows, split, columns, tree, state)
                expanded = True
                break
            _keep(v, rows, columns, tree, state)
        if not expanded:
            for t in rows:
                state.done[t] = state.groups[0]
            state.groups[0] += 1
            finished += len(rows)
    return finished


@njit(cache=True)
def fewest_copies(members: np.ndarray, start: np.ndarray, columns: Columns, state: State) -> tuple[np.ndarray, ...]:
    """Of each node of a group's cut, the fewest items that a member has below it, as rows of a sparse matrix.

    The members of group g are members[start[g]:start[g + 1]]. All have the same cut, in the tree's order.
    """
    row_start = np.zeros(len(start), dtype=np.int64)
    node = np.empty(len(columns.item), dtype=np.int32)
    fewest, supply = np.empty(len(node), dtype=np.int64), np.empty(len(node), dtype=np.int64)
    for g in range(len(start) - 1):
        first = end = row_start[g]
        for m in range(start[g], start[g + 1]):
            t, end = members[m], first
            for x in range(columns.start[t], columns.start[t + 1]):
                v = columns.path[columns.path_start[columns.item[x]] + state.depth[x]]
                if end == first or node[end - 1] != v:
                    node[end], supply[end] = v, 0
                    end += 1
                supply[end - 1] += columns.copies[x]
            for place in range(first, end):
                fewest[place] = supply[place] if m == start[g] else min(fewest[place], supply[place])
        row_start[g + 1] = end
    return fewest[: row_start[-1]], node[: row_start[-1]], row_start
