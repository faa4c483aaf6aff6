"""What would the attacker now believe? The terms of the picked profile that were not known, likeliest first."""

from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array

from evaluation.attacks.linkage import Linkage
from evaluation.attacks.victims import Victims
from evaluation.attacks.view import PublishedView

GUESSES = 10
_TIE = 1e-9  # of a weight


def inference(view: PublishedView, victims: Victims, known: csr_array, linked: Linkage) -> float:
    """Precision of naming ten unknown terms from the picked profile, beyond naming the commonest of the release.

    Terms are ranked by their weight in the profile, and by that times their weight in the release; the stronger of
    the two counts. This is the change of belief of Zhu & Xiong's equations 1 to 3, and never below 0.
    """
    if len(view.release) == 0 or len(victims) == 0:
        return 0.0
    told = _Named(view.over_atoms(known, victims.profiles.terms))
    owned = victims.profiles.counts[victims.user].astype(float)
    owned.data[:] = 1
    fresh = _Named(view.over_atoms(csr_array(owned - known), victims.profiles.terms))
    most = GUESSES + int(np.diff(known.indptr).max(initial=0))
    size = view.atoms.size
    baseline = heaviest(np.arange(len(size)), view.whole, size, most)
    hits = np.zeros(3)
    for row in np.unique(linked.picked).tolist():
        part = slice(view.profiles.indptr[row], view.profiles.indptr[row + 1])
        atom, weight = view.profiles.indices[part], view.profiles.data[part]
        rankings = (
            heaviest(atom, weight, size, most), heaviest(atom, weight * view.whole[atom], size, most), baseline,
        )  # fmt: skip
        for victim in np.flatnonzero(linked.picked == row).tolist():
            hits += [ranking.expected_hits(told.of(victim), fresh.of(victim)) for ranking in rankings]
    by_weight, by_both, common = hits / (GUESSES * len(victims))
    return max(0.0, float(max(by_weight, by_both) - common))


@dataclass(frozen=True, eq=False)
class Ranking:
    """The heaviest atoms, in ranks of equal weight: enough of them to name ten terms beside those that are known."""

    atom: np.ndarray  # ascending
    rank: np.ndarray  # of each atom
    terms: np.ndarray  # in each rank

    def expected_hits(self, told: tuple[np.ndarray, np.ndarray], fresh: tuple[np.ndarray, np.ndarray]) -> float:
        """Right ones among the ten heaviest not known yet; where weights tie, what a random choice expects.

        `told` and `fresh` are (atom, terms): what is known of the victim, and what is true and not known.
        """
        if len(self.terms) == 0:
            return 0.0
        there = self.terms - self._counted(*told)
        room = np.clip(GUESSES - (np.cumsum(there) - there), 0, there)
        return float((self._counted(*fresh) * room / np.maximum(there, 1)).sum())

    def _counted(self, atom: np.ndarray, terms: np.ndarray) -> np.ndarray:
        place = np.minimum(np.searchsorted(self.atom, atom), len(self.atom) - 1)
        same = self.atom[place] == atom
        return np.bincount(self.rank[place[same]], weights=terms[same], minlength=len(self.terms))


def heaviest(atom: np.ndarray, weight: np.ndarray, size: np.ndarray, most: int) -> Ranking:
    """The ranking of atoms by weight, down to the rank that completes `most` terms; what weighs nothing is left out."""
    there = np.flatnonzero((weight > 0) & (size[atom] > 0))
    there = there[np.argsort(-weight[there], kind="stable")]
    falls = weight[there][1:] < weight[there][:-1] * (1 - _TIE)
    rank = np.concatenate([[0], np.cumsum(falls)]).astype(np.int64)[: len(there)]
    terms = np.bincount(rank, weights=size[atom[there]])
    enough = int(np.searchsorted(np.cumsum(terms), most)) + 1
    kept = there[rank < enough]
    order = np.argsort(atom[kept])
    return Ranking(atom[kept][order], rank[: len(kept)][order], terms[:enough])


class _Named:
    """Rows of a matrix over atoms."""

    def __init__(self, matrix: csr_array) -> None:
        self.matrix = matrix

    def of(self, row: int) -> tuple[np.ndarray, np.ndarray]:
        part = slice(self.matrix.indptr[row], self.matrix.indptr[row + 1])
        return self.matrix.indices[part], self.matrix.data[part]
