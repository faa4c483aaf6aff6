"""Which terms of its members may stand behind which label of a published vocabulary, and do labels compete for them?"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numba import njit
from scipy.sparse import csr_array

from shoal.anonymizer.claims.transport import FEASIBLE, Transport
from shoal.anonymizer.claims.vocabulary_bags import Naming, Wanted
from shoal.corpus.knowledge.taxonomy import bag_members

KINDS = {"vote": 0, "generalize": 1, "bags": 2}


@dataclass(frozen=True, eq=False)
class Fitting:
    """Members of published vocabularies, and what of theirs fits each label.

    Member m shares row[m] of the release and typed vocabulary[m] of the vocabularies. Each label of that row is a slot:
    those of m are slot[m]:slot[m + 1], and what fits slot s are the occurrences place[start[s]:start[s + 1]].
    """

    naming: Naming
    labels: list[str]
    published: csr_array  # release rows x labels
    row: np.ndarray  # ascending
    vocabulary: np.ndarray
    typed: csr_array  # vocabularies x terms
    slot: np.ndarray
    start: np.ndarray
    place: np.ndarray  # in the data of `typed`

    @cached_property
    def member(self) -> np.ndarray:
        """The member of each slot."""
        return np.repeat(np.arange(len(self.row)), np.diff(self.slot))

    @cached_property
    def entry(self) -> np.ndarray:
        """The place of each slot's label in the data of `published`."""
        first = self.published.indptr[self.row] - self.slot[:-1]
        return np.arange(self.slot[-1]) + np.repeat(first, np.diff(self.slot))

    @cached_property
    def _slot_of_fit(self) -> np.ndarray:
        return np.repeat(np.arange(len(self.member)), np.diff(self.start))

    @cached_property
    def contested(self) -> np.ndarray:
        """Per member: whether labels together may want more occurrences of a term than there are."""
        member = self.member[self._slot_of_fit]
        key, wanted = np.unique(member * self.typed.nnz + self.place, return_inverse=True)
        copies = self.published.data[self.entry[self._slot_of_fit]]
        scarce = np.bincount(wanted, copies, len(key)) > self.typed.data[key % max(1, self.typed.nnz)]
        found = np.zeros(len(self.row), dtype=bool)
        found[key[scarce] // max(1, self.typed.nnz)] = True
        return found

    @cached_property
    def shared(self) -> np.ndarray:
        """Per entry of `published`: whether its label is a term that each member typed, so that this alone is a bag."""
        own = np.array([self.naming.number.get(label, -1) for label in self.labels], dtype=np.int64)
        entry = self.entry[self._slot_of_fit]
        same = own[self.published.indices[entry]] == self.typed.indices[self.place]
        having = np.bincount(entry[same], minlength=self.published.nnz)
        members = np.bincount(self.row, minlength=self.published.shape[0])
        return having == np.repeat(members, np.diff(self.published.indptr))

    def rows_to_search(self) -> np.ndarray:
        """Rows of the release whose bags do not simply consist of a term that all members have."""
        found = np.zeros(self.published.shape[0], dtype=bool)
        found[self.row[self.contested]] = True
        found[np.repeat(np.arange(len(found)), np.diff(self.published.indptr))[~self.shared]] = True
        return np.flatnonzero(found)

    def members(self, row: int) -> range:
        return range(*np.searchsorted(self.row, [row, row + 1]).tolist())

    def wanted(self, row: int, every: bool) -> list[Wanted]:
        """The labels of a row and what of its members fits them: of every label, or of those that not all typed."""
        slots = self.slot[self.members(row)]
        first, last = self.published.indptr[row : row + 2].tolist()
        return [
            Wanted(
                self.labels[self.published.indices[entry]],
                int(self.published.data[entry]),
                [self.typed.indices[self._places(slot)].tolist() for slot in slots + (entry - first)],
            )
            for entry in range(first, last)
            if every or not self.shared[entry]
        ]

    def counts(self, row: int) -> dict[tuple[int, int], int]:
        """How often the members of a row, counted from 0, typed the terms that fit."""
        found = {}
        for number, m in enumerate(self.members(row)):
            places = self.place[self.start[self.slot[m]] : self.start[self.slot[m + 1]]]
            for term, n in zip(self.typed.indices[places].tolist(), self.typed.data[places].tolist(), strict=True):
                found[number, term] = n
        return found

    def _places(self, slot: int) -> np.ndarray:
        return self.place[self.start[slot] : self.start[slot + 1]]

    def enough(self) -> np.ndarray:
        """Per member: whether each label alone finds as many occurrences as it is published."""
        there = np.bincount(self._slot_of_fit, self.typed.data[self.place], len(self.member))
        short = there < self.published.data[self.entry]
        found = np.ones(len(self.row), dtype=bool)
        found[self.member[short]] = False
        return found

    def supplies(self, m: int) -> bool:
        """Whether a member can give each published occurrence one of its own."""
        first, last = self.slot[m : m + 2]
        terms, giver = np.unique(self.place[self.start[first] : self.start[last]], return_inverse=True)
        needs = self.published.data[self.entry[first:last]].astype(np.int64)
        taker = np.repeat(np.arange(last - first), np.diff(self.start[first : last + 1]))
        here, there, none = np.zeros_like(terms), np.zeros_like(needs), np.zeros_like(taker)
        flow = Transport(here, here, self.typed.data[terms], there, needs, giver, taker, none, needs[taker])
        return flow.impossible_part() == FEASIBLE


def find_fitting(
    naming: Naming, labels: list[str], published: csr_array, row: np.ndarray, vocabulary: np.ndarray, typed: csr_array
) -> Fitting:
    """What of each member fits each label of the published vocabulary that it shares."""
    slot = np.concatenate([[0], np.cumsum(np.diff(published.indptr)[row])])
    node, start, leaf = _places_of(labels, naming)
    tree = (naming.taxonomy.parent, naming.taxonomy.depth, naming.taxonomy.end)
    arguments = (
        row, vocabulary, published.indptr, published.indices, node, start, leaf,
        typed.indptr, naming.leaf[typed.indices], tree, naming.epsilon, KINDS[naming.typical],
    )  # fmt: skip
    size = np.zeros(slot[-1] + 1, dtype=np.int64)
    _fill(*arguments, size[1:], np.zeros(0, dtype=np.int64), False)
    first = np.cumsum(size)
    place = np.empty(first[-1], dtype=np.int64)
    _fill(*arguments, size[1:], place, True)
    return Fitting(naming, labels, published, row, vocabulary, typed, slot, first, place)


def _places_of(labels: list[str], naming: Naming) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Labels in the taxonomy: the node of each (-1 of a bag), and the leaves leaf[start[x]:start[x + 1]] of label x."""
    parts = [bag_members(label) if naming.typical == "bags" else [label] for label in labels]
    nodes = [[naming.taxonomy.node[part.lower()] for part in some] for some in parts]
    node = [some[0] if len(some) == 1 else -1 for some in nodes]
    start = np.concatenate([[0], np.cumsum([len(some) for some in nodes])])
    leaf = [v for some in nodes for v in some]
    return np.array(node, dtype=np.int64), start.astype(np.int64), np.array(leaf, dtype=np.int64)


@njit(cache=True)
def _fill(
    row: np.ndarray, vocabulary: np.ndarray, published_start: np.ndarray, label: np.ndarray, node: np.ndarray,
    bag_start: np.ndarray, bag_leaf: np.ndarray, typed_start: np.ndarray, typed_leaf: np.ndarray,
    tree: tuple[np.ndarray, np.ndarray, np.ndarray], epsilon: int, kind: int,
    size: np.ndarray, place: np.ndarray, write: bool,
) -> None:  # fmt: skip
    """Count what fits each slot or, once that is known, write it down."""
    slot, found = 0, 0
    for m in range(len(row)):
        for e in range(published_start[row[m]], published_start[row[m] + 1]):
            leaves = bag_leaf[bag_start[label[e]] : bag_start[label[e] + 1]]
            for x in range(typed_start[vocabulary[m]], typed_start[vocabulary[m] + 1]):
                if _fits(node[label[e]], leaves, typed_leaf[x], tree, epsilon, kind):
                    if write:
                        place[found] = x
                    else:
                        size[slot] += 1
                    found += 1
            slot += 1


@njit(cache=True)
def _fits(
    node: int, leaves: np.ndarray, leaf: int, tree: tuple[np.ndarray, np.ndarray, np.ndarray], epsilon: int, kind: int
) -> bool:
    """Whether a bag of this label may hold this leaf."""
    parent, depth, end = tree
    if kind == 2:
        return bool((leaves == leaf).any())
    if kind == 1:  # in another branch below the node there is a leaf of the bag, at least one edge away from it
        return leaf == node or (node < leaf < end[node] and depth[leaf] - depth[node] < epsilon)
    edges = 0
    while leaf != node and edges <= epsilon:
        if depth[leaf] >= depth[node]:
            leaf = parent[leaf]
        else:
            node = parent[node]
        edges += 1
    return edges <= epsilon
