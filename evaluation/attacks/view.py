"""What does an attacker see? Published profiles as weights of terms; a generalized label is shared by its leaves."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.sparse import csr_array

from anonymizer.base import Release
from corpus.knowledge import Knowledge
from corpus.taxonomy import Taxonomy


@dataclass(frozen=True, eq=False)
class PublishedView:
    """A release with public knowledge: how much each profile, and the whole release, says of given terms."""

    release: Release
    knowledge: Knowledge

    @cached_property
    def total(self) -> np.ndarray:
        """The weight of each profile, 1 where it is empty."""
        total = np.asarray(self.release.weights.sum(axis=1)).ravel()
        return np.where(total > 0, total, 1.0)

    @cached_property
    def whole(self) -> np.ndarray:
        """The weight of each label in the whole release, every user counted."""
        return self.release.weights.T @ self.release.users.astype(float)

    def spread(self, terms: list[str]) -> csr_array:
        """Labels x terms: the share of a label that falls to a term, equal among all that the label stands for."""
        column = {term: i for i, term in enumerate(terms)}
        rows: list[int] = []
        columns: list[int] = []
        shares: list[float] = []
        tree = _LabelTree(self.release, self.knowledge)
        for label, term, share in tree.shares(column):
            rows.append(label)
            columns.append(column[term])
            shares.append(share)
        return csr_array((shares, (rows, columns)), shape=(len(self.release.labels), len(terms)))

    def profiles_over(self, terms: list[str], rows: np.ndarray | None = None) -> csr_array:
        """Profiles x terms: P(term | profile)."""
        weights = self.release.weights if rows is None else self.release.weights[rows]
        total = self.total if rows is None else self.total[rows]
        matrix = csr_array(weights @ self.spread(terms))
        matrix.data = matrix.data / np.repeat(total, np.diff(matrix.indptr))
        return matrix

    def whole_over(self, terms: list[str]) -> np.ndarray:
        """P(term) in the whole release."""
        everything = float(self.whole.sum())
        return (self.whole @ self.spread(terms)) / everything if everything else np.zeros(len(terms))

    @cached_property
    def terms(self) -> list[str]:
        """Every term that some published label stands for, sorted."""
        found: set[str] = set()
        covered = -1  # labels of a tree nest, so a label inside one already walked adds nothing
        nodes = []
        for label, general in zip(self.release.labels, self.release.generalized, strict=True):
            if not general:
                found.add(label)
            elif "|" in label:
                found.update(label.split("|"))
            else:
                nodes.append(self.knowledge.taxonomy.node[label.lower()])
        for v in sorted(nodes):
            if v > covered:
                found.update(self.knowledge.taxonomy.leaves_below(self.knowledge.taxonomy.labels[v]))
                covered = int(self.knowledge.taxonomy.end[v]) - 1
        return sorted(found)


class _LabelTree:
    """Finds the labels that stand for a term, by walking up from the term instead of down from every label."""

    def __init__(self, release: Release, knowledge: Knowledge) -> None:
        self.plain = {label: i for i, label in enumerate(release.labels) if not release.generalized[i]}
        general = [(label, i) for i, label in enumerate(release.labels) if release.generalized[i]]
        self.bags: dict[str, list[tuple[int, float]]] = {}
        for label, i in general:
            members = label.split("|") if "|" in label else []
            for member in members:
                self.bags.setdefault(member, []).append((i, 1 / len(members)))
        named = [(label, i) for label, i in general if "|" not in label]
        self.taxonomy: Taxonomy | None = knowledge.taxonomy if named else None
        self.nodes = {self.taxonomy.node[label.lower()]: i for label, i in named} if self.taxonomy else {}

    def shares(self, terms: dict[str, int]) -> list[tuple[int, str, float]]:
        found = [(self.plain[term], term, 1.0) for term in terms if term in self.plain]
        found += [(i, term, share) for term in terms for i, share in self.bags.get(term, ())]
        for term in terms if self.taxonomy else ():
            leaf = self.taxonomy.leaf(term) if self.taxonomy else None
            above = self.taxonomy.path(leaf) if self.taxonomy and leaf is not None else []
            found += [
                (self.nodes[v], term, 1 / int(self.taxonomy.leaves[v]))
                for v in above
                if self.taxonomy and v in self.nodes
            ]
        return found
