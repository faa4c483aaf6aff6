"""Which vocabulary stands for a cluster? One label for each bag of its centre (section IV-B)."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array

from shoal.anonymizer.methods.ssc.hyper_terms import Centre
from shoal.corpus.knowledge.taxonomy import Taxonomy, bag_label


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
