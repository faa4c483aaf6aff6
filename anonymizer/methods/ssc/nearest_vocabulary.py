"""Which vocabulary is nearest to a centre, which the farthest? Exact, by bounds first and few matchings after.

In model 2 the distance of vocabulary t to a centre of l members is omega * (|t| + l * |centre|) minus the greatest gain
of a matching, where a matched pair gains omega * (l + 1) - (sum of distances). The bounds of that gain come from an
inverted index over the neighbourhoods: from above every occurrence takes its best bag, from below only one does.
In model 1 it is the sum of the matched distances: at least the shortest of one occurrence if there is any that fits,
and at most the longest of all that fit.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numba import njit
from scipy.sparse import csc_array, csr_array

from shoal.anonymizer.methods.ssc.hyper_terms import Centre, Cost, distance_from_gain
from shoal.anonymizer.methods.ssc.matching import FAR, best_matching


@dataclass(frozen=True, eq=False)
class TermIndex:
    """The centre seen from the terms: slot[i] of a term that fits some bag, and those bags with their gains."""

    slot: np.ndarray  # int32 per term, -1 where it fits none
    terms: np.ndarray  # int32 per slot
    start: np.ndarray  # int64
    bag: np.ndarray  # int64
    gain: np.ndarray  # int64
    best: np.ndarray  # int64 per slot: the greatest of its gains
    worst: np.ndarray  # int64 per slot: the least


def index_by_term(centre: Centre, terms: int, cost: Cost) -> TermIndex:
    gain = cost.unmatched * (centre.members + 1) - cost.edge * centre.total
    return TermIndex(*_index(centre.start, centre.fits, gain, terms))


@njit(cache=True)
def _index(
    start: np.ndarray, fits: np.ndarray, gain: np.ndarray, terms: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    slot = np.full(terms, -1, np.int32)
    known = np.empty(min(terms, len(fits)), np.int32)
    size = np.zeros(min(terms, len(fits)) + 1, np.int64)
    slots = 0
    for x in range(len(fits)):
        if gain[x] > 0:
            if slot[fits[x]] < 0:
                slot[fits[x]], known[slots] = slots, fits[x]
                slots += 1
            size[slot[fits[x]] + 1] += 1
    by_slot = np.cumsum(size[: slots + 1])
    place = by_slot[:-1].copy()
    bag, gains = np.empty(by_slot[-1], np.int64), np.empty(by_slot[-1], np.int64)
    best, worst = np.zeros(slots, np.int64), np.full(slots, FAR)
    for b in range(len(start) - 1):
        for x in range(start[b], start[b + 1]):
            if gain[x] > 0:
                s = slot[fits[x]]
                bag[place[s]], gains[place[s]] = b, gain[x]
                best[s], worst[s] = max(best[s], gain[x]), min(worst[s], gain[x])
                place[s] += 1
    return slot, known[:slots], by_slot, bag, gains, best, worst


class Vocabularies:
    """The vocabularies still without a cluster: their terms, and for each term who uses it."""

    def __init__(self, counts: csr_array) -> None:
        self.start = counts.indptr.astype(np.int64)
        self.term = counts.indices.astype(np.int32)
        self.count = counts.data.astype(np.int64)
        self.size = np.asarray(counts.sum(axis=1)).ravel().astype(np.int64)
        self.terms = counts.shape[1]
        self.left = self.size > 0  # one without a term keeps its number but never takes part
        self._counts = counts
        self._bound = np.empty(counts.shape[0], dtype=np.int64)
        self._index_users()

    def _index_users(self) -> None:
        rows = np.flatnonzero(self.left)
        by_term = self._counts[rows].tocsc()
        by_term.sort_indices()
        self.used_start = by_term.indptr.astype(np.int64)
        self.used_by = rows[by_term.indices].astype(np.int32)
        self.used_count = by_term.data.astype(np.int32)
        self._indexed = self.remaining = len(rows)

    def of(self, t: int) -> tuple[np.ndarray, np.ndarray]:
        part = slice(self.start[t], self.start[t + 1])
        return self.term[part], self.count[part]

    def take(self, t: int) -> None:
        self.left[t] = False
        self.remaining -= 1
        if 2 * self.remaining < self._indexed:  # those who are gone would only be stepped over
            self._index_users()

    def nearest(self, centre: Centre, allowed: np.ndarray, cost: Cost) -> int:
        """The allowed vocabulary nearest to the centre, the first of several."""
        return self._extreme(centre, allowed, cost, False)

    def farthest(self, centre: Centre, allowed: np.ndarray, cost: Cost) -> int:
        """The allowed vocabulary farthest from the centre, the first of several."""
        return self._extreme(centre, allowed, cost, True)

    def _extreme(self, centre: Centre, allowed: np.ndarray, cost: Cost, farthest: bool) -> int:
        index = index_by_term(centre, self.terms, cost)
        used = (self.used_start, self.used_by, self.used_count)
        if cost.model == 1 and farthest:
            longest = cost.unmatched * (centre.members + 1) - index.worst
            _over_users(index.terms, longest, *used, True, self._bound)
        else:
            _over_users(index.terms, index.best, *used, (cost.model == 2) != farthest, self._bound)
            _as_distances(self._bound, allowed, self.size, centre.occurrences, centre.members, cost)
        return int(_search(
            -1 if farthest else 1, self._bound, allowed, self.start, self.term, self.count, self.size,
            index.slot, index.start, index.bag, index.gain, centre.copies, centre.members, cost,
        ))  # fmt: skip

    def distance(self, t: int, centre: Centre, cost: Cost) -> int:
        """distance(t, centre), by an exact matching."""
        index = index_by_term(centre, self.terms, cost)
        terms, counts = self.of(t)
        gain = greatest_gain(terms, counts, index.slot, index.start, index.bag, index.gain, centre.copies)
        return int(distance_from_gain(gain, self.size[t], centre.occurrences, centre.members, cost))


@njit(cache=True)
def _over_users(
    terms: np.ndarray, value: np.ndarray, used_start: np.ndarray, used_by: np.ndarray, used_count: np.ndarray,
    add: bool, found: np.ndarray,
) -> None:  # fmt: skip
    """For each vocabulary, the sum of the values of its occurrences of these terms, or the greatest; 0 without any."""
    found[:] = 0
    for s in range(len(terms)):
        for x in range(used_start[terms[s]], used_start[terms[s] + 1]):
            t = used_by[x]
            found[t] = found[t] + used_count[x] * value[s] if add else max(found[t], value[s])


@njit(cache=True)
def _as_distances(gain: np.ndarray, allowed: np.ndarray, size: np.ndarray, bags: int, members: int, cost: Cost) -> None:
    for t in range(len(gain)):
        if allowed[t]:
            gain[t] = distance_from_gain(gain[t], size[t], bags, members, cost)


@njit(cache=True)
def _search(
    sign: int, bound: np.ndarray, allowed: np.ndarray, start: np.ndarray, term: np.ndarray, count: np.ndarray,
    size: np.ndarray, slot: np.ndarray, index_start: np.ndarray, bag: np.ndarray, gain: np.ndarray,
    copies: np.ndarray, members: int, cost: Cost,
) -> int:  # fmt: skip
    """The allowed vocabulary of the least sign * distance; none is below sign * bound. They come best bound first."""
    best, least = -1, np.int64(0)
    for t in range(len(bound)):
        if allowed[t] and (best < 0 or sign * bound[t] < least):
            best, least = t, sign * bound[t]
    if best < 0:
        return best
    part = slice(start[best], start[best + 1])
    bags = copies.sum()
    found = greatest_gain(term[part], count[part], slot, index_start, bag, gain, copies)
    least = np.int64(sign * distance_from_gain(found, size[best], bags, members, cost))
    first = best
    rivals = np.array([t for t in range(len(bound)) if allowed[t] and sign * bound[t] <= least])
    for t in rivals[np.argsort(sign * bound[rivals], kind="mergesort")]:
        if sign * bound[t] > least:
            break
        if t == first or (sign * bound[t] == least and t > best):
            continue
        part = slice(start[t], start[t + 1])
        found = greatest_gain(term[part], count[part], slot, index_start, bag, gain, copies)
        exact = np.int64(sign * distance_from_gain(found, size[t], bags, members, cost))
        if exact < least or (exact == least and t < best):
            best, least = t, exact
    return best


@njit(cache=True)
def greatest_gain(
    terms: np.ndarray, counts: np.ndarray, slot: np.ndarray, index_start: np.ndarray, bag: np.ndarray,
    gain: np.ndarray, copies: np.ndarray,
) -> int:  # fmt: skip
    """What the best matching of a vocabulary with the indexed centre gains."""
    edges, known = 0, 0
    for i in terms:
        if slot[i] >= 0:
            edges += index_start[slot[i] + 1] - index_start[slot[i]]
            known += 1
    supply, start = np.empty(known, np.int64), np.zeros(known + 1, np.int64)
    right, gains = np.empty(edges, np.int64), np.empty(edges, np.int64)
    known, edges = 0, 0
    for x in range(len(terms)):
        s = slot[terms[x]]
        if s >= 0:
            for y in range(index_start[s], index_start[s + 1]):
                right[edges], gains[edges] = bag[y], gain[y]
                edges += 1
            supply[known] = counts[x]
            known += 1
            start[known] = edges
    place, room, met = np.full(len(copies), -1, np.int64), np.empty(len(copies), np.int64), 0
    for e in range(edges):
        if place[right[e]] < 0:
            place[right[e]], room[met] = met, copies[right[e]]
            met += 1
        right[e] = place[right[e]]
    flow = best_matching(supply, start, right, gains, room[:met])
    return (flow * gains).sum()


class Centres:
    """The centres of all clusters, seen from the terms. A centre that moved is compared exactly from then on."""

    def __init__(self, centres: Sequence[Centre], vocabularies: Vocabularies, cost: Cost) -> None:
        self.of = list(centres)
        self._vocabularies = vocabularies
        self._cost = cost
        self._moved = np.zeros(len(self.of), dtype=bool)
        self._alone = np.array([cost.unmatched * c.members * c.occurrences for c in self.of], dtype=np.int64)
        indices = [index_by_term(centre, vocabularies.terms, cost) for centre in self.of]
        cluster = np.repeat(np.arange(len(indices)), [len(index.terms) for index in indices])
        terms = np.concatenate([index.terms for index in indices])
        best = np.concatenate([index.best for index in indices])
        self._best = csc_array((best, (cluster, terms)), shape=(len(indices), vocabularies.terms))

    def nearest(self, t: int) -> int:
        """The cluster whose centre is nearest to vocabulary t, the first of several."""
        terms, counts = self._vocabularies.of(t)
        if self._cost.model == 1:  # a cluster that shares nothing is at 0, and there mostly is one
            bound = np.zeros(len(self.of), dtype=np.int64)
        else:
            alone = self._cost.unmatched * self._vocabularies.size[t] + self._alone
            bound = np.where(self._moved, 0, alone - self._best[:, terms] @ counts)
        best, least = -1, 0
        for cluster in np.argsort(bound, kind="stable").tolist():
            if best >= 0 and (bound[cluster] > least or (bound[cluster] == least and cluster > best)):
                break
            exact = self._vocabularies.distance(t, self.of[cluster], self._cost)
            if best < 0 or exact < least or (exact == least and cluster < best):
                best, least = cluster, exact
        return best

    def move(self, cluster: int, centre: Centre) -> None:
        self.of[cluster] = centre
        self._moved[cluster] = True
