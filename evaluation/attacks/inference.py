"""What would the attacker now believe? The terms of the picked profile that were not known, likeliest first."""

from typing import Any

import numpy as np
from scipy.sparse import csr_array

from shoal.evaluation.attacks.guessing import right_guesses
from shoal.evaluation.attacks.linkage import Linkage
from shoal.evaluation.attacks.victims import Victims
from shoal.evaluation.attacks.view import PublishedView

GUESSES = 10


def inference(view: PublishedView, victims: Victims, known: csr_array, linked: Linkage) -> float:
    """Precision of naming ten unknown terms from the picked profile, beyond naming the commonest of the release.

    Terms are ranked by their weight in the profile, and by that times their weight in the release; the stronger of
    the two counts. This is the change of belief of Zhu & Xiong's equations 1 to 3, and never below 0.
    """
    if len(view.release) == 0 or len(victims) == 0:
        return 0.0
    told = view.over_atoms(known, victims.profiles.terms)
    owned = csr_array(victims.profiles.counts[victims.user].astype(float))
    owned.data[:] = 1
    fresh = view.over_atoms(csr_array(owned - known), victims.profiles.terms)
    both = view.profiles.copy()
    both.data = both.data * view.whole[both.indices]
    everywhere = np.zeros(len(victims), dtype=np.int64)
    by_weight = _hits(view.profiles, linked.picked, view, told, fresh)
    by_both = _hits(both, linked.picked, view, told, fresh)
    common = _hits(csr_array(view.whole[None, :]), everywhere, view, told, fresh)
    return max(0.0, (max(by_weight, by_both) - common) / (GUESSES * len(victims)))


def _hits(ranked: csr_array, picked: np.ndarray, view: PublishedView, told: csr_array, fresh: csr_array) -> float:
    """Right ones among the ten heaviest terms of each victim's row of `ranked` that are not told."""
    order = np.argsort(picked, kind="stable")
    most_told = int(np.asarray(told.sum(axis=1)).max(initial=0))
    given: list[Any] = [*_whole(ranked), view.atoms.size, *_whole(told), *_whole(fresh), GUESSES, most_told]
    return float(right_guesses(picked.astype(np.int64), order, *given))


def _whole(matrix: csr_array) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    return matrix.indptr.astype(np.int64), matrix.indices.astype(np.int64), matrix.data.astype(np.float64)
