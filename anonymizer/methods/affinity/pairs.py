"""Which classes of queries are theta-affine? All pairs with cosine >= theta, by an inverted index over prefixes.

Both vectors of a pair give a shared concept the same weight, so the cosine is O / sqrt(S S'), with O the squared
weight of what they share and S <= S' their squared norms. Cosine >= theta asks for O >= theta S and O >= theta^2 S'.
In one order of concepts, the rarest first, the first shared concept therefore stands before the point where less
than theta S is left of the smaller vector, and less than theta^2 S' of the larger: only these prefixes are indexed
and looked up. O <= S bounds the norms of a pair besides: S >= theta^2 S'. And since at most (1 - theta) S of the
smaller and (1 - theta^2) S' of the larger may be missing from the other, most pairs that share a prefix are refused
by two 64-bit signatures, before their concepts are compared.

How many users protect each query? Generalized k-cores: peel by the number of distinct users around a vertex.

Carpineto & Romano 3.3. The degree of a vertex is the number of distinct users of itself and its living neighbours.
Vertices leave in the order of that degree, and the level at which one leaves is its anonymity degree (its core
degree + 1). A counter per vertex and user would need memory for every user of every neighbour. Instead each vertex
keeps a lower bound of its degree, which falls by at most the users of each neighbour that leaves; its users are
counted anew only when the bound has come down to the level.
"""

from dataclasses import dataclass

import numpy as np
from numba import njit

from shoal.anonymizer.methods.affinity.concepts import AffinityClasses
from shoal.corpus.progress import Progress

SLACK = 1e-10  # so that rounding loses no pair at the threshold itself
_CLASSES_AT_ONCE = 20_000
_PAIRS_AT_ONCE = 1 << 20


@dataclass(frozen=True, eq=False)
class Signatures:
    """A bit for each concept of a class (several may share one), and how many concepts an affine one may lack."""

    bits: np.ndarray  # uint64
    spare_as_smaller: np.ndarray  # uint8
    spare_as_larger: np.ndarray  # uint8


def signatures(classes: AffinityClasses, theta: float) -> Signatures:
    vectors = classes.vectors
    return Signatures(_bits(*vectors[:2]), _spare(*vectors, 1 - theta), _spare(*vectors, 1 - theta**2))


@njit(cache=True)
def _bits(start: np.ndarray, concept: np.ndarray) -> np.ndarray:
    bits = np.zeros(len(start) - 1, dtype=np.uint64)
    for c in range(len(bits)):
        for f in concept[start[c] : start[c + 1]]:
            bits[c] |= np.uint64(1) << ((np.uint64(f) * np.uint64(0x9E3779B97F4A7C15)) >> np.uint64(58))
    return bits


@njit(cache=True)
def _spare(start: np.ndarray, concept: np.ndarray, square: np.ndarray, norm: np.ndarray, share: float) -> np.ndarray:
    """How many concepts, the lightest first, make up at most this share of the squared norm."""
    spare = np.zeros(len(norm), dtype=np.uint8)
    for c in range(len(norm)):
        weights = np.sort(square[concept[start[c] : start[c + 1]]])
        left = share * norm[c] * (1 + SLACK) + SLACK * norm[c]
        for weight in weights[:64]:
            left -= weight
            if left < 0:
                break
            spare[c] += 1
    return spare


@njit(cache=True, inline="always")
def lacks_at_most(bits: np.uint64, other: np.uint64, spare: int) -> bool:
    """Whether at most so many of these bits are missing from the other's."""
    missing = bits & ~other
    while missing:
        if spare == 0:
            return False
        missing &= missing - np.uint64(1)
        spare -= 1
    return True


@dataclass(frozen=True, eq=False)
class AffinityGraph:
    """Neighbours of class c: neighbour[start[c]:start[c + 1]]; no class is listed as its own."""

    start: np.ndarray
    neighbour: np.ndarray

    @property
    def edges(self) -> int:
        return len(self.neighbour) // 2


@dataclass(frozen=True, eq=False)
class PrefixIndex:
    """The classes, ascending, that hold each concept in a prefix: held_by[start[f]:start[f + 1]]."""

    start: np.ndarray
    held_by: np.ndarray


def affinity_graph(classes: AffinityClasses, theta: float, progress: Progress) -> AffinityGraph:
    """All pairs of classes with cosine >= theta."""
    index = prefix_index(classes, theta)
    longer = prefix_lengths(*classes.vectors, theta**2)
    signs = signatures(classes, theta)
    low = index.start[:-1].copy()
    seen = np.full(len(classes), -1, dtype=np.int32)
    buffer = np.empty((_PAIRS_AT_ONCE, 2), dtype=np.int32)
    blocks: list[np.ndarray] = [np.empty((0, 2), dtype=np.int32)]
    done = 0
    while done < len(classes):
        progress(done, len(classes), "finding affine queries")
        end = min(done + _CLASSES_AT_ONCE, len(classes))
        reached, found = _pairs_between(
            done, end, *classes.vectors, theta,
            index.start, index.held_by, low, longer,
            signs.bits, signs.spare_as_smaller, signs.spare_as_larger, seen, buffer,
        )  # fmt: skip
        if reached == done:  # one class has more neighbours than the buffer holds
            buffer = np.empty((2 * len(buffer), 2), dtype=np.int32)
        blocks.append(buffer[:found].copy())
        done = reached
    progress(done, len(classes), "finding affine queries")
    return AffinityGraph(*_both_ways(np.concatenate(blocks), len(classes)))


def prefix_index(classes: AffinityClasses, share: float) -> PrefixIndex:
    """Index the concepts of each class before the point where less than `share` of its squared norm is left."""
    lengths = prefix_lengths(*classes.vectors, share)
    return PrefixIndex(*_inverted(classes.start, classes.concept, lengths, len(classes.square)))


@njit(cache=True)
def prefix_lengths(
    start: np.ndarray, concept: np.ndarray, square: np.ndarray, norm: np.ndarray, share: float
) -> np.ndarray:
    lengths = np.empty(len(norm), dtype=np.int32)
    for c in range(len(norm)):
        left = norm[c]
        length = 0
        for i in range(start[c], start[c + 1]):
            if left < share * norm[c] * (1 - SLACK) - SLACK:
                break
            left -= square[concept[i]]
            length += 1
        lengths[c] = length
    return lengths


@njit(cache=True)
def _inverted(
    start: np.ndarray, concept: np.ndarray, lengths: np.ndarray, concepts: int
) -> tuple[np.ndarray, np.ndarray]:
    first = np.zeros(concepts + 1, dtype=np.int64)
    for c in range(len(lengths)):
        for i in range(start[c], start[c] + lengths[c]):
            first[concept[i] + 1] += 1
    first = np.cumsum(first)
    held_by = np.empty(first[-1], dtype=np.int32)
    end = first.copy()
    for c in range(len(lengths)):
        for i in range(start[c], start[c] + lengths[c]):
            held_by[end[concept[i]]] = c
            end[concept[i]] += 1
    return first, held_by


@njit(cache=True)
def are_affine(
    a: int, b: int, start: np.ndarray, concept: np.ndarray, square: np.ndarray, norm: np.ndarray, theta: float
) -> bool:
    """Whether the cosine of two classes is at least theta."""
    return cosine(a, b, start, concept, square, norm) >= theta * (1 - SLACK)


@njit(cache=True)
def cosine(a: int, b: int, start: np.ndarray, concept: np.ndarray, square: np.ndarray, norm: np.ndarray) -> float:
    """Equation 4."""
    i, j = start[a], start[b]
    shared = 0.0
    while i < start[a + 1] and j < start[b + 1]:
        if concept[i] == concept[j]:
            shared += square[concept[i]]
            i += 1
            j += 1
        elif concept[i] < concept[j]:
            i += 1
        else:
            j += 1
    return shared / np.sqrt(norm[a] * norm[b])


@njit(cache=True)
def _pairs_between(
    begin: int, end: int,
    start: np.ndarray, concept: np.ndarray, square: np.ndarray, norm: np.ndarray, theta: float,
    index_start: np.ndarray, held_by: np.ndarray, low: np.ndarray, longer: np.ndarray,
    bits: np.ndarray, spare_as_smaller: np.ndarray, spare_as_larger: np.ndarray,
    seen: np.ndarray, pairs: np.ndarray,
) -> tuple[int, int]:  # fmt: skip
    """The pairs of classes begin:end with the smaller ones before them, until `pairs` is full.

    `low` moves up with the norm: what is too small for one class is too small for all that follow.
    """
    found = 0
    for c in range(begin, end):
        found_before = found
        least = theta * theta * norm[c] * (1 - SLACK)
        for i in range(start[c], start[c] + longer[c]):
            f = concept[i]
            while low[f] < index_start[f + 1] and norm[held_by[low[f]]] < least:
                low[f] += 1
            for j in range(low[f], index_start[f + 1]):
                other = held_by[j]
                if other >= c:
                    break
                if (
                    not lacks_at_most(bits[other], bits[c], spare_as_smaller[other])
                    or not lacks_at_most(bits[c], bits[other], spare_as_larger[c])
                    or seen[other] == c
                ):
                    continue
                seen[other] = c
                if are_affine(other, c, start, concept, square, norm, theta):
                    if found == len(pairs):
                        seen[:] = -1
                        return c, found_before
                    pairs[found, 0] = other
                    pairs[found, 1] = c
                    found += 1
    return end, found


@njit(cache=True)
def _both_ways(pairs: np.ndarray, classes: int) -> tuple[np.ndarray, np.ndarray]:
    start = np.zeros(classes + 1, dtype=np.int64)
    for i in range(len(pairs)):
        start[pairs[i, 0] + 1] += 1
        start[pairs[i, 1] + 1] += 1
    start = np.cumsum(start)
    neighbour = np.empty(start[-1], dtype=np.int32)
    end = start.copy()
    for i in range(len(pairs)):
        a, b = pairs[i, 0], pairs[i, 1]
        neighbour[end[a]] = b
        neighbour[end[b]] = a
        end[a] += 1
        end[b] += 1
    return start, neighbour


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
