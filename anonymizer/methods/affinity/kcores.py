"""How many users protect each query? Generalized k-cores: peel by the number of distinct users around a vertex.

Carpineto & Romano 3.3. The degree of a vertex is the number of distinct users of itself and its living neighbours.
Vertices leave in the order of that degree, and the level at which one leaves is its anonymity degree (its core
degree + 1). A counter per vertex and user would need memory for every user of every neighbour. Instead each vertex
keeps a lower bound of its degree, which falls by at most the users of each neighbour that leaves; its users are
counted anew only when the bound has come down to the level.
"""

import numpy as np
from numba import njit

from shoal.anonymizer.methods.affinity.pairs import AffinityGraph
from shoal.corpus.progress import Progress

_WORK_AT_ONCE = 30_000_000
_UNKNOWN = np.iinfo(np.int64).max
_NONE = -1


def generalized_cores(
    graph: AffinityGraph, user_start: np.ndarray, user: np.ndarray, users: int, progress: Progress
) -> np.ndarray:
    """The anonymity degree of every vertex, each one labelled with a set of users."""
    first, last = user_start[:-1], user_start[1:]
    state = _prepare(graph.start, graph.neighbour, first, last, users)
    seen = np.full(users, _NONE, dtype=np.int64)
    removed = 0
    while removed < len(first):
        progress(removed, len(first), "peeling cores")
        removed = _peel(graph.start, graph.neighbour, first, last, user, seen, *state, _WORK_AT_ONCE)
    progress(removed, len(first), "peeling cores")
    degree: np.ndarray = state[2]
    return degree


@njit(cache=True)
def cores_of_small_graph(
    start: np.ndarray, neighbour: np.ndarray, first: np.ndarray, last: np.ndarray, user: np.ndarray,
    seen: np.ndarray, clock: int,
) -> tuple[np.ndarray, int]:  # fmt: skip
    """The same in one go; `seen` is shared by many graphs, and `clock` tells which marks in it are old."""
    total = 0
    for v in range(len(first)):
        total += last[v] - first[v]
    bound, upper, degree, after, before, head, position = _prepare(start, neighbour, first, last, min(total, len(seen)))
    position[2] = clock
    _peel(start, neighbour, first, last, user, seen, bound, upper, degree, after, before, head, position, _UNKNOWN)
    return degree, position[2]


@njit(cache=True)
def _prepare(
    start: np.ndarray, neighbour: np.ndarray, first: np.ndarray, last: np.ndarray, users: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Put each vertex in the bucket of the first lower bound: the largest user set around it."""
    n = len(first)
    bound = np.zeros(n, dtype=np.int64)
    upper = np.full(n, _UNKNOWN, dtype=np.int64)
    degree = np.full(n, _NONE, dtype=np.int64)
    after = np.full(n, _NONE, dtype=np.int64)
    before = np.full(n, _NONE, dtype=np.int64)
    head = np.full(users + 2, _NONE, dtype=np.int64)
    for v in range(n):
        bound[v] = last[v] - first[v]
        for w in neighbour[start[v] : start[v + 1]]:
            bound[v] = max(bound[v], last[w] - first[w])
        if start[v] == start[v + 1]:
            upper[v] = bound[v]
        _put(v, bound[v], head, after, before)
    position = np.zeros(3, dtype=np.int64)  # level, vertices removed, clock
    return bound, upper, degree, after, before, head, position


@njit(cache=True)
def _put(v: int, bucket: int, head: np.ndarray, after: np.ndarray, before: np.ndarray) -> None:
    after[v] = head[bucket]
    before[v] = _NONE
    if head[bucket] >= 0:
        before[head[bucket]] = v
    head[bucket] = v


@njit(cache=True)
def _take(v: int, bucket: int, head: np.ndarray, after: np.ndarray, before: np.ndarray) -> None:
    if before[v] >= 0:
        after[before[v]] = after[v]
    else:
        head[bucket] = after[v]
    if after[v] >= 0:
        before[after[v]] = before[v]


@njit(cache=True)
def _peel(
    start: np.ndarray, neighbour: np.ndarray, first: np.ndarray, last: np.ndarray, user: np.ndarray,
    seen: np.ndarray, bound: np.ndarray, upper: np.ndarray, degree: np.ndarray,
    after: np.ndarray, before: np.ndarray, head: np.ndarray, position: np.ndarray, work: int,
) -> int:  # fmt: skip
    """Remove vertices until all are gone or this much work is done: how many are gone by now."""
    level, removed, clock = position
    while removed < len(first) and work > 0:
        while head[level] < 0:
            level += 1
        v = head[level]
        if upper[v] > level:
            clock += 1
            upper[v] = _users_around(v, start, neighbour, first, last, user, degree, seen, clock)
            work -= upper[v] + start[v + 1] - start[v]
            if upper[v] > level:
                _take(v, bound[v], head, after, before)
                bound[v] = upper[v]
                _put(v, bound[v], head, after, before)
                continue
        _take(v, bound[v], head, after, before)
        degree[v] = level
        removed += 1
        work -= 1 + start[v + 1] - start[v]
        for w in neighbour[start[v] : start[v + 1]]:
            if degree[w] < 0:
                lower = max(bound[w] - (last[v] - first[v]), last[w] - first[w], level)
                if lower < bound[w]:
                    _take(w, bound[w], head, after, before)
                    bound[w] = lower
                    _put(w, lower, head, after, before)
    position[0], position[1], position[2] = level, removed, clock
    return removed


@njit(cache=True)
def _users_around(
    v: int, start: np.ndarray, neighbour: np.ndarray, first: np.ndarray, last: np.ndarray, user: np.ndarray,
    degree: np.ndarray, seen: np.ndarray, clock: int,
) -> int:  # fmt: skip
    """The distinct users of a vertex and its living neighbours."""
    found = last[v] - first[v]
    for i in range(first[v], last[v]):
        seen[user[i]] = clock
    for w in neighbour[start[v] : start[v + 1]]:
        if degree[w] < 0:
            for i in range(first[w], last[w]):
                if seen[user[i]] != clock:
                    seen[user[i]] = clock
                    found += 1
    return found
