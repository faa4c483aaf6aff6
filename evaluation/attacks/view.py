"""What does an attacker see? Published profiles as weights of terms; a generalized label is shared by its leaves.

Which terms does a release not tell apart? Atoms: terms that exactly the same published labels stand for.

A label near the root stands for a hundred thousand words, but all words between the same labels look alike to whoever
reads the release. So weights are kept per atom, and an atom knows how many terms it holds.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property

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


# Of a term's probability, the share that comes from the whole release, as attackers choose it. With hardly any, a
# profile that lacks a known term falls behind all that have it: the posterior where profiles leave nothing out.
SMOOTHINGS = (1e-9, 0.001, 0.1, 0.5, 0.9)
SMOOTHING = 0.1  # of an attacker who sees one victim only, and cannot try
_FEW = 5_000_000  # entries of a matrix that is kept whole; of a larger one parts are made when they are asked for


def speech(ratio: np.ndarray, smoothing: float) -> np.ndarray:
    """How much a term speaks for what holds it `ratio` times as likely as the whole does, as a logarithm."""
    told = (1 - smoothing) / smoothing * ratio
    return np.asarray(np.log1p(told, out=told))


@dataclass(frozen=True, eq=False)
class PublishedView:
    """A release with public knowledge: how much each profile, and the whole release, says of given terms."""

    release: Release
    knowledge: Knowledge

    @cached_property
    def atoms(self) -> Atoms:
        return find_atoms(self.release, self.knowledge)

    @cached_property
    def profiles(self) -> csr_array:
        """Profiles x atoms: P(t | profile) of each term t of an atom."""
        return self._shares(self.release.weights, self.atoms.spread)

    def profiles_at(self, rows: np.ndarray) -> csr_array:
        """The same of some profiles."""
        return self.profiles[rows] if self._is_small else self._shares(self.release.weights[rows], self.atoms.spread)

    def likely(self, atoms: np.ndarray) -> csr_array:
        """Some atoms x profiles: P(t | profile) of each term t of an atom."""
        return csr_array(self._shares(self.release.weights, self.atoms.spread[:, atoms]).T)

    @staticmethod
    def _shares(weights: csr_array, spread: csr_array) -> csr_array:
        total = np.asarray(weights.sum(axis=1)).ravel()
        matrix = csr_array(weights @ spread)
        matrix.data /= np.repeat(np.where(total > 0, total, 1.0), np.diff(matrix.indptr))
        return matrix

    @cached_property
    def _is_small(self) -> bool:
        """Whether all atoms of all profiles are few. Labels near the root stand in most profiles, for most atoms."""
        atoms = np.diff(self.atoms.spread.indptr).astype(np.int64)
        return int(atoms[self.release.weights.indices].sum()) <= _FEW

    @cached_property
    def whole(self) -> np.ndarray:
        """P(t) of each term t of an atom in the whole release, every user counted."""
        weight = self.release.weights.T @ self.release.users.astype(float)
        return (weight @ self.atoms.spread) / max(float(weight.sum()), 1e-300)

    @cached_property
    def holders(self) -> csr_array:
        """Atoms x profiles: how much more likely a term is in a profile than in the whole release."""
        matrix = self.profiles.copy()
        matrix.data = matrix.data / np.maximum(self.whole, 1e-200)[matrix.indices]
        return csr_array(matrix.T)

    def holders_of(self, atoms: np.ndarray) -> csr_array:
        """Some atoms x profiles, of the same."""
        if self._is_small:
            return csr_array(self.holders[atoms])
        matrix = self.likely(atoms)
        matrix.data /= np.repeat(np.maximum(self.whole[atoms], 1e-200), np.diff(matrix.indptr))
        return matrix

    def speaks(self, smoothing: float = SMOOTHING) -> csr_array:
        """Atoms x profiles: how much a known term speaks for a profile, as a logarithm; 0 where the profile lacks it.

        Jelinek-Mercer smoothing: P(t) = (1 - smoothing) P(t | profile) + smoothing P(t | release). What a profile lacks
        costs every profile the same, log(smoothing P(t)), so it decides nothing and is left out.
        """
        held = self.holders
        return csr_array((speech(held.data, smoothing), held.indices, held.indptr), shape=held.shape)

    def over_atoms(self, known: csr_array, terms: Sequence[str]) -> csr_array:
        """Known terms (anything x terms) as known atoms; a term that nothing published stands for falls away."""
        used = np.unique(known.indices)
        atom = self.atoms.of([terms[t] for t in used])
        there = np.flatnonzero(atom >= 0)
        places = (used[there], atom[there])
        named = csr_array((np.ones(len(there)), places), shape=(known.shape[1], len(self.atoms)))
        return csr_array(known @ named)

    def profiles_over(self, terms: Sequence[str], rows: np.ndarray | None = None) -> csr_array:
        """Profiles x terms: P(term | profile)."""
        chosen = self.profiles if rows is None else self.profiles[rows]
        return csr_array(chosen @ self._named(terms))

    def whole_over(self, terms: Sequence[str]) -> np.ndarray:
        """P(term) in the whole release."""
        return np.asarray(self.whole @ self._named(terms))

    def _named(self, terms: Sequence[str]) -> csr_array:
        """Atoms x terms, 1 where the term is of the atom."""
        atom = self.atoms.of(terms)
        there = np.flatnonzero(atom >= 0)
        return csr_array((np.ones(len(there)), (atom[there], there)), shape=(len(self.atoms), len(terms)))

    @cached_property
    def terms(self) -> list[str]:
        """Every term that some published label stands for, sorted."""
        used = np.flatnonzero(np.bincount(self.atoms.spread.indices, minlength=len(self.atoms)))
        return sorted(term for atom in used.tolist() for term in self.atoms.terms(atom))
