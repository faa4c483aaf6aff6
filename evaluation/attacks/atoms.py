"""Which terms does a release not tell apart? Atoms: terms that exactly the same published labels stand for.

A label near the root stands for a hundred thousand words, but all words between the same labels look alike to whoever
reads the release. So weights are kept per atom, and an atom knows how many terms it holds.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np
from scipy.sparse import csr_array

from shoal.anonymizer.base import Release
from shoal.corpus.knowledge import Knowledge
from shoal.corpus.knowledge.taxonomy import Taxonomy
from shoal.evaluation.measures.occurrences import leaf_of, node_of


@dataclass(frozen=True, eq=False)
class Atoms:
    """The named terms of a release one by one, then stretches of the taxonomy's leaves between its labels."""

    number: dict[str, int]  # atoms of the terms that labels name; sorted by term
    taxonomy: Taxonomy | None  # only where a label is a node of it
    cut: np.ndarray  # where stretches of nodes begin, ascending
    size: np.ndarray  # terms of each atom
    spread: csr_array  # labels x atoms: the share of a label that falls to each term of an atom
    _found: dict[str, int] = field(default_factory=dict)  # terms that were looked up before

    def __len__(self) -> int:
        return len(self.size)

    def of(self, terms: Sequence[str]) -> np.ndarray:
        """The atom of each term, -1 where nothing that is published can stand for it."""
        for term in terms:
            if term not in self._found:
                self._found[term] = self._of(term)
        return np.array([self._found[term] for term in terms], dtype=np.int64)

    def _of(self, term: str) -> int:
        if term in self.number or self.taxonomy is None:
            return self.number.get(term, -1)
        leaf = leaf_of(term, self.taxonomy)
        stretch = int(np.searchsorted(self.cut, leaf, side="right")) - 1
        return len(self.number) + stretch if 0 <= stretch < len(self) - len(self.number) else -1

    def terms(self, atom: int, most: int | None = None) -> list[str]:
        """The terms of an atom in the order of the taxonomy, the first `most` of them."""
        if atom < len(self.number):
            return [list(self.number)[atom]]
        assert self.taxonomy is not None
        low, high = self.cut[atom - len(self.number)], self.cut[atom - len(self.number) + 1]
        found: list[str] = []
        for leaf in (low + np.flatnonzero(self.taxonomy.is_leaf[low:high])).tolist():
            term = self.taxonomy.labels[leaf].lower()
            if term not in self.number:
                found.append(term)
            if len(found) == most:
                break
        return found


def find_atoms(release: Release, knowledge: Knowledge) -> Atoms:
    """The atoms of a release. A generalized label is a bag a|b|c or a node of the taxonomy."""
    plain = {i: [release.labels[i]] for i in np.flatnonzero(~release.generalized).tolist()}
    named = plain | release.bags
    number = {term: a for a, term in enumerate(sorted({term for terms in named.values() for term in terms}))}
    row = np.array([i for i, terms in named.items() for _ in terms], dtype=np.int64)
    atom = np.array([number[term] for terms in named.values() for term in terms], dtype=np.int64)
    share = np.array([1 / len(terms) for terms in named.values() for _ in terms])
    if not release.nodes:
        spread = csr_array((share, (row, atom)), shape=(len(release.labels), len(number)))
        return Atoms(number, None, np.empty(0, dtype=np.int64), np.ones(len(number), dtype=np.int64), spread)
    tree = knowledge.taxonomy
    node = np.array([node_of(label, tree) for label in release.nodes.values()], dtype=np.int64)
    cut = np.unique(np.concatenate([node, tree.end[node]]))
    below = _below(tree, node, cut, number)
    label = np.repeat(np.array(list(release.nodes), dtype=np.int64), [len(atoms) for atoms in below])
    atom = np.concatenate([atom, *below])
    share = np.concatenate([share, np.repeat(1 / tree.leaves[node], [len(atoms) for atoms in below])])
    size = np.concatenate([np.ones(len(number), dtype=np.int64), _stretch_sizes(tree, cut, number)])
    spread = csr_array((share, (np.concatenate([row, label]), atom)), shape=(len(release.labels), len(size)))
    return Atoms(number, tree, cut, size, spread)


def _leaves_of(tree: Taxonomy, terms: Iterable[str]) -> np.ndarray:
    return np.array([leaf_of(term, tree) for term in terms], dtype=np.int64)


def _below(tree: Taxonomy, node: np.ndarray, cut: np.ndarray, number: dict[str, int]) -> list[np.ndarray]:
    """The atoms below each node: whole stretches, since every label begins and ends one, and named leaves."""
    leaf = _leaves_of(tree, number)
    order = np.argsort(leaf, kind="stable")
    first, last = np.searchsorted(cut, node), np.searchsorted(cut, tree.end[node])
    low, high = np.searchsorted(leaf[order], node), np.searchsorted(leaf[order], tree.end[node])
    return [
        np.concatenate([order[a:b], len(number) + np.arange(c, d)])
        for a, b, c, d in zip(low, high, first, last, strict=True)
    ]


def _stretch_sizes(tree: Taxonomy, cut: np.ndarray, number: dict[str, int]) -> np.ndarray:
    """The leaves of each stretch that are not named already."""
    unnamed = tree.is_leaf.copy()
    leaf = _leaves_of(tree, number)
    unnamed[leaf[leaf >= 0]] = False
    before = np.concatenate([[0], np.cumsum(unnamed)])
    return np.diff(before[cut]).astype(np.int64)
