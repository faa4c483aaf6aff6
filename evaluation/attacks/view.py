"""What does an attacker see? Published profiles as weights of terms; a generalized label is shared by its leaves."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.sparse import csr_array

from shoal.anonymizer.base import Release
from shoal.corpus.knowledge import Knowledge
from shoal.evaluation.attacks.atoms import Atoms, find_atoms

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
