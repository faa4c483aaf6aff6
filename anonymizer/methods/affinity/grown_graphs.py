"""How many users protect each query, at least? Cores of small graphs grown around queries (Carpineto & Romano 3.4).

A graph starts at a class that no graph holds yet, those with most users first, and takes in affine classes that no
graph holds, until there are none or it has v_max of them. Its cores are cores of a part of the whole graph, so the
degrees are lower bounds; they are exact where a graph is a whole component. Every class is in one graph, so those
that protect a class in its graph have at least its degree themselves, and are released whenever it is.
"""

from typing import NamedTuple

import numpy as np
from numba import njit

from shoal.anonymizer.methods.affinity.classes import AffinityClasses
from shoal.anonymizer.methods.affinity.kcores import cores_of_small_graph
from shoal.anonymizer.methods.affinity.pairs import are_affine, prefix_index, prefix_lengths
from shoal.anonymizer.methods.affinity.signatures import lacks_at_most, signatures
from shoal.corpus.progress import Progress

_WORK_AT_ONCE = 5_000_000


class _Search(NamedTuple):
    """All that is needed to find the neighbours of a class. Classes are numbered by norm.

    Smaller ones are found as affine_pairs finds them: the long prefix of a class in the index of short ones. Larger
    ones are found the other way round.
    """

    theta: float
    start: np.ndarray
    concept: np.ndarray
    square: np.ndarray
    norm: np.ndarray
    bits: np.ndarray
    spare_as_smaller: np.ndarray
    spare_as_larger: np.ndarray
    short: np.ndarray
    short_start: np.ndarray
    short_held_by: np.ndarray
    long: np.ndarray
    long_start: np.ndarray
    long_held_by: np.ndarray
    low: np.ndarray  # the first class whose norm allows it to be affine to each one
    high: np.ndarray  # one past the last


class _Scratch(NamedTuple):
    """Room that all graphs share, so that a small one costs little."""

    members: np.ndarray
    member_start: np.ndarray
    local: np.ndarray  # the place of a class in the graph that grows now, -1 for none
    seen: np.ndarray  # the last member that met each class
    seen_users: np.ndarray
    clock: np.ndarray  # tells which marks in seen, and in seen_users, are old


def cores_of_grown_graphs(
    classes: AffinityClasses, theta: float, v_max: int, users: int, progress: Progress
) -> np.ndarray:
    """A lower bound of the anonymity degree of every class."""
    search, scratch = _search(classes, theta), _scratch(len(classes), min(v_max, len(classes)), users)
    seeds = np.lexsort((np.arange(len(classes)), -np.diff(classes.user_start)))
    degree = np.full(len(classes), -1, dtype=np.int64)
    done = 0
    while done < len(classes):
        progress(done, len(classes), "growing graphs of affine queries")
        done = _grow_from(done, seeds, search, scratch, classes.user_start, classes.user, degree, _WORK_AT_ONCE)
    progress(done, len(classes), "growing graphs of affine queries")
    return degree


def _search(classes: AffinityClasses, theta: float) -> _Search:
    vectors = (classes.start, classes.concept, classes.square, classes.norm)
    signs = signatures(classes, theta)
    short, long = prefix_index(classes, theta), prefix_index(classes, theta**2)
    low = np.searchsorted(classes.norm, classes.norm * theta**2 * (1 - 1e-9))
    high = np.searchsorted(classes.norm, classes.norm / theta**2 * (1 + 1e-9), side="right")
    return _Search(
        theta, *vectors, signs.bits, signs.spare_as_smaller, signs.spare_as_larger,
        prefix_lengths(*vectors, theta), short.start, short.held_by,
        prefix_lengths(*vectors, theta**2), long.start, long.held_by, low, high,
    )  # fmt: skip


def _scratch(classes: int, v_max: int, users: int) -> _Scratch:
    room = np.zeros((2, v_max + 1), dtype=np.int64)
    marks = np.full((2, classes), -1, dtype=np.int64)
    users_seen, clock = np.full(users, -1, dtype=np.int64), np.zeros(2, dtype=np.int64)
    return _Scratch(room[0], room[1], marks[0], marks[1], users_seen, clock)


@njit(cache=True)
def _grow_from(
    done: int, seeds: np.ndarray, search: _Search, scratch: _Scratch,
    user_start: np.ndarray, user: np.ndarray, degree: np.ndarray, work: int,
) -> int:  # fmt: skip
    """Grow a graph around each next seed that is in none, until this much work is done: the next seed."""
    clock = scratch.clock
    while done < len(seeds) and work > 0:
        seed = seeds[done]
        done += 1
        work -= 1
        if degree[seed] >= 0:
            continue
        members, start, neighbour, cost = _grow(seed, search, scratch, degree)
        work -= cost
        cores, clock[1] = cores_of_small_graph(
            start, neighbour, user_start[members], user_start[members + 1], user, scratch.seen_users, clock[1]
        )
        for i in range(len(members)):
            degree[members[i]] = cores[i]
            scratch.local[members[i]] = -1
    return done


@njit(cache=True)
def _grow(
    seed: int, search: _Search, scratch: _Scratch, degree: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray, int]:
    """The graph around a seed: its members, and the neighbours of each among them."""
    theta, start, concept, square, norm, bits, as_smaller, as_larger = search[:8]
    short, short_start, short_held_by, long, long_start, long_held_by, low, high = search[8:]
    members, member_start, local, seen = scratch.members, scratch.member_start, scratch.local, scratch.seen
    v_max = len(members) - 1
    neighbour = np.empty(64, dtype=np.int64)
    members[0], local[seed] = seed, 0
    size, edges, cost, at = 1, 0, 0, 0
    while at < size:
        c = members[at]
        scratch.clock[0] += 1
        now = scratch.clock[0]
        for larger in range(2):
            for i in range(start[c], start[c] + (short[c] if larger else long[c])):
                f = concept[i]
                held_by = long_held_by if larger else short_held_by
                first, last = (long_start[f], long_start[f + 1]) if larger else (short_start[f], short_start[f + 1])
                end = high[c] if larger else c
                for j in range(first + _place(held_by, first, last, c + 1 if larger else low[c]), last):
                    other = held_by[j]
                    if other >= end:
                        break
                    cost += 1
                    small, large = (c, other) if larger else (other, c)
                    if (
                        not lacks_at_most(bits[small], bits[large], as_smaller[small])
                        or not lacks_at_most(bits[large], bits[small], as_larger[large])
                        or degree[other] >= 0
                        or seen[other] == now
                        or (local[other] < 0 and size == v_max)
                    ):
                        continue
                    seen[other] = now
                    if not are_affine(small, large, start, concept, square, norm, theta):
                        continue
                    if local[other] < 0:
                        members[size], local[other] = other, size
                        size += 1
                    if edges == len(neighbour):
                        neighbour = np.concatenate((neighbour, np.empty(edges, dtype=np.int64)))
                    neighbour[edges] = local[other]
                    edges += 1
        at += 1
        member_start[at] = edges
    return members[:size].copy(), member_start[: size + 1].copy(), neighbour[:edges].copy(), cost


@njit(cache=True)
def _place(ascending: np.ndarray, first: int, last: int, value: int) -> int:
    """How many of ascending[first:last] are below the value."""
    low, high = first, last
    while low < high:
        middle = (low + high) // 2
        if ascending[middle] < value:
            low = middle + 1
        else:
            high = middle
    return low - first
