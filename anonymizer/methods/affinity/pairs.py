"""Which classes of queries are theta-affine? All pairs with cosine >= theta, by an inverted index over prefixes.

Both vectors of a pair give a shared concept the same weight, so the cosine is O / sqrt(S S'), with O the squared
weight of what they share and S <= S' their squared norms. Cosine >= theta asks for O >= theta S and O >= theta^2 S'.
In one order of concepts, the rarest first, the first shared concept therefore stands before the point where less
than theta S is left of the smaller vector, and less than theta^2 S' of the larger: only these prefixes are indexed
and looked up. O <= S bounds the norms of a pair besides: S >= theta^2 S'. And since at most (1 - theta) S of the
smaller and (1 - theta^2) S' of the larger may be missing from the other, most pairs that share a prefix are refused
by two 64-bit signatures, before their concepts are compared.
"""

from dataclasses import dataclass

import numpy as np
from numba import njit

from shoal.anonymizer.methods.affinity.classes import AffinityClasses
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
