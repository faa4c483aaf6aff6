"""What is the centre of a cluster, and what stands for it? Bags of matched terms, with a label each (section IV-B)."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple

import numpy as np
from numba import njit
from scipy.sparse import csr_array

from shoal.anonymizer.methods.ssc.matching import Neighbourhoods, best_matching
from shoal.corpus.knowledge.taxonomy import Taxonomy, bag_label

PRIME = 2**31 - 1
PREFERENCES = 2**24


class Cost(NamedTuple):
    """What a matching costs, in whole numbers: per edge of a distance, and per unmatched occurrence.

    In model 2 that is omega. In model 1 it is so much that the largest matching always wins, and no part of a distance.
    """

    edge: int
    unmatched: int
    model: int


def matching_cost(model: int, omega: float, largest: int, epsilon: int) -> Cost:
    """The costs of the paper's matching models, for vocabularies of at most `largest` occurrences."""
    if model == 1:
        return Cost(1, largest * epsilon + 1, 1)
    # omega as a fraction, so that costs are whole numbers and equal distances are equal.
    fraction = Fraction(omega).limit_denominator(1000)
    return Cost(fraction.denominator, fraction.numerator, 2)


@njit(cache=True)
def distance_from_gain(gain: int, terms: int, bags: int, members: int, cost: Cost) -> int:
    """distance(t, centre) for |t| terms and a number of bags of so many members, where the best matching has this gain.

    A matched pair gains what both cost unmatched less its distances; model 1 sums the distances alone.
    """
    if cost.model == 1:
        return -gain % (cost.unmatched * (members + 1))
    return cost.unmatched * (terms + members * bags) - gain


@dataclass(frozen=True, eq=False)
class Centre:
    """Bags in the order in which their members came; bags of the same content are one row with several copies.

    The terms that fit bag b (relevant to every term in it) are fits[start[b]:start[b + 1]], ascending, each at
    the sum of its distances to the terms in the bag.
    """

    bags: np.ndarray  # int32, bags x members
    copies: np.ndarray  # int64 per bag
    key: np.ndarray  # int64 per bag, a hash of its content
    start: np.ndarray  # int64
    fits: np.ndarray  # int32
    total: np.ndarray  # int64

    @property
    def members(self) -> int:
        return int(self.bags.shape[1])

    @property
    def occurrences(self) -> int:
        """The number of bags, copies counted."""
        return int(self.copies.sum())


def first_centre(terms: np.ndarray, counts: np.ndarray, near: Neighbourhoods) -> Centre:
    """gt_1: each occurrence of the first member is a bag of its own."""
    size = near.start[terms + 1] - near.start[terms]
    start = np.concatenate([[0], np.cumsum(size)]).astype(np.int64)
    place = np.arange(start[-1]) + np.repeat(near.start[terms] - start[:-1], size)
    key = (terms.astype(np.int64) + 1) % PRIME  # extended_key(0, term)
    return Centre(
        terms.astype(np.int32).reshape(-1, 1), counts.astype(np.int64), key,
        start, near.term[place], near.distance[place].astype(np.int64),
    )  # fmt: skip


def joined(centre: Centre, terms: np.ndarray, counts: np.ndarray, near: Neighbourhoods, cost: Cost) -> Centre:
    """gt_(l+1): the bags of gt_l with the terms of one more vocabulary matched to them; the unmatched are dropped."""
    parts = _extend(
        centre.bags, centre.copies, centre.key, centre.start, centre.fits, centre.total,
        terms, counts.astype(np.int64), near.start, near.term, near.distance, cost,
    )  # fmt: skip
    return Centre(*parts)


@njit(cache=True)
def extended_key(key: int, term: int) -> int:
    """The hash of a bag after one more term: a polynomial in the terms' numbers."""
    return (key * 1000003 + term + 1) % PRIME


@njit(cache=True)
def preference(key: int) -> int:
    """Decides between matchings of the same cost, so that what is published hangs on no solver: less is better."""
    return (key * key % PRIME * key % PRIME) % PREFERENCES


@njit(cache=True)
def _extend(
    bags: np.ndarray, copies: np.ndarray, key: np.ndarray, start: np.ndarray, fits: np.ndarray, total: np.ndarray,
    terms: np.ndarray, counts: np.ndarray, near_start: np.ndarray, near_term: np.ndarray, near_distance: np.ndarray,
    cost: Cost,
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray]:  # fmt: skip
    # Bags are the left side here: their lists of fitting terms are the edges.
    members = bags.shape[1]
    most = cost.unmatched * (members + 1)
    pairs = min(copies.sum(), counts.sum()) + 1
    # Preferences of all matched pairs together stay below one unit of cost, and everything below 2^61.
    choices = min(PREFERENCES, max(1, 2**61 // (most * pairs)))
    edge_start, right, gain = _edges(start, fits, total, terms, key, cost, members, pairs, choices)
    flow = best_matching(copies, edge_start, right, gain, counts)
    near = (near_start, near_term, near_distance)
    return _new_bags(bags, key, start, fits, total, terms, near, edge_start, right, flow)


@njit(cache=True)
def _edges(
    start: np.ndarray, fits: np.ndarray, total: np.ndarray, terms: np.ndarray, key: np.ndarray, cost: Cost,
    members: int, pairs: int, choices: int,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:  # fmt: skip
    """The pairs (bag, term) whose matching lowers the cost, and by how much; preferences decide between equals."""
    edge_start = np.zeros(len(start), np.int64)
    right, gain = np.empty(len(fits), np.int64), np.empty(len(fits), np.int64)
    found = 0
    for b in range(len(start) - 1):
        x, y = start[b], 0
        while x < start[b + 1] and y < len(terms):
            if fits[x] == terms[y]:
                saved = cost.unmatched * (members + 1) - cost.edge * total[x]
                if saved > 0:
                    right[found] = y
                    gain[found] = saved * pairs * choices - preference(extended_key(key[b], terms[y])) % choices
                    found += 1
                x, y = x + 1, y + 1
            elif fits[x] < terms[y]:
                x += 1
            else:
                y += 1
        edge_start[b + 1] = found
    return edge_start, right[:found], gain[:found]


@njit(cache=True)
def _new_bags(
    bags: np.ndarray, key: np.ndarray, start: np.ndarray, fits: np.ndarray, total: np.ndarray, terms: np.ndarray,
    near: tuple[np.ndarray, np.ndarray, np.ndarray], edge_start: np.ndarray, right: np.ndarray, flow: np.ndarray,
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray]:  # fmt: skip
    number = (flow > 0).sum()
    members = bags.shape[1]
    new_bags = np.empty((number, members + 1), np.int32)
    new_copies, new_key = np.empty(number, np.int64), np.empty(number, np.int64)
    new_start = np.zeros(number + 1, np.int64)
    room = 0
    for b in range(len(bags)):
        for e in range(edge_start[b], edge_start[b + 1]):
            if flow[e] > 0:
                room += start[b + 1] - start[b]
    new_fits, new_total = np.empty(room, np.int32), np.empty(room, np.int64)
    at, found = 0, 0
    for b in range(len(bags)):
        for e in range(edge_start[b], edge_start[b + 1]):
            if flow[e] == 0:
                continue
            term = terms[right[e]]
            new_bags[at, :members], new_bags[at, members] = bags[b], term
            new_copies[at], new_key[at] = flow[e], extended_key(key[b], term)
            found = _narrow(start[b], start[b + 1], fits, total, term, near, found, new_fits, new_total)
            at += 1
            new_start[at] = found
    return new_bags, new_copies, new_key, new_start, new_fits[:found], new_total[:found]


@njit(cache=True)
def _narrow(
    x: int, stop: int, fits: np.ndarray, total: np.ndarray, term: int,
    near: tuple[np.ndarray, np.ndarray, np.ndarray], found: int, new_fits: np.ndarray, new_total: np.ndarray,
) -> int:  # fmt: skip
    """What fits a bag and is near the term that joins it fits the larger bag, at a distance that adds up."""
    near_start, near_term, near_distance = near
    y = near_start[term]
    while x < stop and y < near_start[term + 1]:
        if fits[x] == near_term[y]:
            new_fits[found], new_total[found] = fits[x], total[x] + near_distance[y]
            found, x, y = found + 1, x + 1, y + 1
        elif fits[x] < near_term[y]:
            x += 1
        else:
            y += 1
    return found


@dataclass(frozen=True, eq=False)
class TypicalVocabularies:
    """What is published: clusters x labels, how many bags of a cluster bear a label."""

    labels: list[str]
    generalized: np.ndarray  # bool per label: stands for several terms
    weights: csr_array


@dataclass(frozen=True)
class Wording:
    """How bags are named: by the taxonomy, its leaf of each term, the terms themselves, and who uses them."""

    taxonomy: Taxonomy
    leaf: np.ndarray
    terms: Sequence[str]
    users: np.ndarray  # int64 per term: how many users of the whole log use it

    def vote(self, bag: np.ndarray) -> str:
        """The medoid: the term closest to all others in the bag; of several that of most users, then of the alphabet.

        Whoever came first must not decide: with k=2 every bag is a tie, and the seed's own words would be published.
        """
        times = Counter(bag.tolist())
        total = {i: sum(n * self.distance(i, j) for j, n in times.items()) for i in times}
        return self.terms[min(total, key=lambda i: (total[i], -self.users[i], self.terms[i]))]

    def bags(self, bag: np.ndarray) -> str:
        """The bag itself: its different terms, in the order of the alphabet."""
        return bag_label(self.terms[i] for i in bag)

    def generalize(self, bag: np.ndarray) -> str:
        """The lowest common ancestor; a bag of one term remains that term."""
        v = self._lowest_common_ancestor(self.leaf[bag])
        return self.terms[bag[0]] if self.taxonomy.is_leaf[v] else self.taxonomy.labels[v]

    def distance(self, i: int, j: int) -> int:
        pair = self.leaf[[i, j]]
        return int(self.taxonomy.depth[pair].sum() - 2 * self.taxonomy.depth[self._lowest_common_ancestor(pair)])

    def _lowest_common_ancestor(self, leaves: np.ndarray) -> int:
        v, last = int(leaves.min()), int(leaves.max())
        while self.taxonomy.end[v] <= last:  # in depth-first order, all at or below v are v:end[v]
            v = int(self.taxonomy.parent[v])
        return v


def typical_vocabularies(centres: Sequence[Centre], wording: Wording, typical: str) -> TypicalVocabularies:
    """The typical vocabulary of each centre: by majority vote, as bags, or locally generalized."""
    name: Callable[[np.ndarray], str] = getattr(wording, typical)
    column: dict[str, int] = {}
    single: list[bool] = []
    rows, columns, weights = [], [], []
    for row, centre in enumerate(centres):
        for bag, copies in zip(centre.bags, centre.copies.tolist(), strict=True):
            label = name(bag)
            if label not in column:
                column[label] = len(column)
                single.append(typical == "vote" or bool((bag == bag[0]).all()))
            rows.append(row)
            columns.append(column[label])
            weights.append(float(copies))
    shape = (len(centres), len(column))
    return _in_order(list(column), ~np.array(single, dtype=bool), csr_array((weights, (rows, columns)), shape=shape))


def _in_order(labels: list[str], generalized: np.ndarray, weights: csr_array) -> TypicalVocabularies:
    """Labels sorted: their order must not tell in which order the clusters came about."""
    order = np.array(sorted(range(len(labels)), key=labels.__getitem__), dtype=np.int64)
    return TypicalVocabularies([labels[x] for x in order], generalized[order], csr_array(weights[:, order]))
