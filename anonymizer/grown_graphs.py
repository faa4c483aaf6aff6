"""How many users protect each query, at least? Cores of small graphs grown around queries (Carpineto & Romano 3.4).

A graph starts at a class that no graph holds yet, those with most users first, and takes in affine classes that no
graph holds, until there are none or it has v_max of them. Its cores are cores of a part of the whole graph, so the
degrees are lower bounds; they are exact where a graph is a whole component. Every class is in one graph, so those
that protect a class in its graph have at least its degree themselves, and are released whenever it is.
"""

import numpy as np
from numba import njit

from anonymizer.affine_pairs import are_affine, prefix_index, prefix_lengths
from anonymizer.affinity_classes import AffinityClasses
from anonymizer.kcores import cores_of_small_graph
from anonymizer.signatures import lacks_at_most, signatures
from corpus.progress import Progress

_WORK_AT_ONCE = 5_000_000


def cores_of_grown_graphs(
    classes: AffinityClasses, theta: float, v_max: int, users: int, progress: Progress
) -> np.ndarray:
    """A lower bound of the anonymity degree of every class."""
    # A graph grows to smaller and to larger vectors, so both sides index and look up the longer prefix.
    index = prefix_index(classes, theta**2)
    lengths = prefix_lengths(classes.start, classes.concept, classes.square, classes.norm, theta**2)
    vectors = (classes.start, classes.concept, classes.square, classes.norm)
    signs = signatures(classes, theta)
    signed = (signs.bits, signs.spare_as_smaller, signs.spare_as_larger)
    seeds = np.lexsort((np.arange(len(classes)), -np.diff(classes.user_start)))
    degree = np.full(len(classes), -1, dtype=np.int64)
    local = np.full(len(classes), -1, dtype=np.int64)
    seen = np.full((2, max(users, len(classes))), -1, dtype=np.int64)
    clock = np.zeros(2, dtype=np.int64)
    room = np.zeros((2, min(v_max, len(classes)) + 1), dtype=np.int64)
    done = 0
    while done < len(classes):
        progress(done, len(classes), "growing graphs of affine queries")
        done = _grow_from(
            done, seeds, vectors, signed, theta, room, index.start, index.held_by, lengths,
            classes.user_start, classes.user, degree, local, seen, clock, _WORK_AT_ONCE,
        )  # fmt: skip
    progress(done, len(classes), "growing graphs of affine queries")
    return degree


@njit(cache=True)
def _grow_from(
    done: int, seeds: np.ndarray, vectors: tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray],
    signed: tuple[np.ndarray, np.ndarray, np.ndarray],
    theta: float, room: np.ndarray, index_start: np.ndarray, held_by: np.ndarray, lengths: np.ndarray,
    user_start: np.ndarray, user: np.ndarray, degree: np.ndarray, local: np.ndarray,
    seen: np.ndarray, clock: np.ndarray, work: int,
) -> int:  # fmt: skip
    """Grow a graph around each next seed that is in none, until this much work is done: the next seed."""
    while done < len(seeds) and work > 0:
        seed = seeds[done]
        done += 1
        work -= 1
        if degree[seed] >= 0:
            continue
        members, start, neighbour, cost = _grow(
            seed, vectors, signed, theta, room, index_start, held_by, lengths, degree, local, seen[0], clock
        )
        work -= cost
        cores, clock[1] = cores_of_small_graph(
            start, neighbour, user_start[members], user_start[members + 1], user, seen[1], clock[1]
        )
        for i in range(len(members)):
            degree[members[i]] = cores[i]
            local[members[i]] = -1
    return done


@njit(cache=True)
def _grow(
    seed: int, vectors: tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray],
    signed: tuple[np.ndarray, np.ndarray, np.ndarray], theta: float, room: np.ndarray,
    index_start: np.ndarray, held_by: np.ndarray, lengths: np.ndarray,
    degree: np.ndarray, local: np.ndarray, seen: np.ndarray, clock: np.ndarray,
) -> tuple[np.ndarray, np.ndarray, np.ndarray, int]:  # fmt: skip
    """The graph around a seed: its members, and the neighbours of each among them."""
    start, concept, square, norm = vectors
    bits, spare_as_smaller, spare_as_larger = signed
    members, member_start = room
    v_max = len(members) - 1
    neighbour = np.empty(64, dtype=np.int64)
    members[0], local[seed] = seed, 0
    size, edges, cost, at = 1, 0, 0, 0
    while at < size:
        c = members[at]
        clock[0] += 1
        seen[c] = clock[0]
        low = np.searchsorted(norm, theta * theta * norm[c] * (1 - 1e-9))
        high = np.searchsorted(norm, norm[c] / (theta * theta) * (1 + 1e-9), side="right")
        for f in concept[start[c] : start[c] + lengths[c]]:
            listed = held_by[index_start[f] : index_start[f + 1]]
            for other in listed[np.searchsorted(listed, low) :]:
                if other >= high:
                    break
                cost += 1
                if seen[other] == clock[0] or degree[other] >= 0 or (local[other] < 0 and size == v_max):
                    continue
                seen[other] = clock[0]
                small, large = min(c, other), max(c, other)
                if not lacks_at_most(bits[small], bits[large], spare_as_smaller[small]):
                    continue
                if not lacks_at_most(bits[large], bits[small], spare_as_larger[large]):
                    continue
                if not are_affine(c, other, start, concept, square, norm, theta):
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
