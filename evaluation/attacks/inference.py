"""What would the attacker now believe? The terms of the picked profile that were not known, likeliest first."""

from typing import Any

import numpy as np
from numba import njit
from scipy.sparse import csr_array

from shoal.evaluation.attacks.linkage import Linkage, whole
from shoal.evaluation.attacks.victims import Victims
from shoal.evaluation.attacks.view import PublishedView

GUESSES = 10
_TIE = 1e-9  # of a weight


def inference(view: PublishedView, victims: Victims, known: csr_array, linked: Linkage) -> np.ndarray:
    """Precision of naming ten unknown terms from the picked profile, beyond naming the commonest of the release.

    Terms are ranked by their weight in the profile, and by that times their weight in the release; of these and of the
    profiles that attackers pick the strongest counts. This is the change of belief of Zhu & Xiong's equations 1 to 3,
    of each victim; its mean is never below 0, since an attacker who guesses worse can name the commonest.
    """
    nothing = np.zeros(len(victims))
    if len(view.release) == 0:
        return nothing
    told = view.over_atoms(known, victims.profiles.terms)
    owned = csr_array(victims.profiles.counts[victims.user].astype(float))
    owned.data[:] = 1
    fresh = view.over_atoms(csr_array(owned - known), victims.profiles.terms)
    common = _hits(csr_array(view.whole[None, :]), np.zeros(len(victims), dtype=np.int64), view, told, fresh)
    rows, place = np.unique(linked.picked, return_inverse=True)
    alone = view.profiles_at(rows)
    both = alone.copy()
    both.data = both.data * view.whole[both.indices]
    picks = np.unique(place.reshape(linked.picked.shape), axis=0)
    guesses = [_hits(by, one, view, told, fresh) for one in picks for by in (alone, both)]
    return max((nothing, *((hits - common) / GUESSES for hits in guesses)), key=lambda gain: float(gain.sum()))


def _hits(ranked: csr_array, picked: np.ndarray, view: PublishedView, told: csr_array, fresh: csr_array) -> np.ndarray:
    """Right ones among the ten heaviest terms of each victim's row of `ranked` that are not told."""
    order = np.argsort(picked, kind="stable")
    most_told = int(np.asarray(told.sum(axis=1)).max(initial=0))
    given: list[Any] = [*whole(ranked), view.atoms.size, *whole(told), *whole(fresh), GUESSES, most_told]
    return np.asarray(_right_guesses(picked.astype(np.int64), order, *given))


@njit(cache=True)
def _right_guesses(
    picked: np.ndarray, order: np.ndarray,  # the profile of each victim, and the victims sorted by it
    start: np.ndarray, atom: np.ndarray, weight: np.ndarray, size: np.ndarray,
    told_start: np.ndarray, told: np.ndarray, told_terms: np.ndarray,
    fresh_start: np.ndarray, fresh: np.ndarray, fresh_terms: np.ndarray,
    guesses: int, most_told: int,
) -> np.ndarray:  # fmt: skip
    """The expected number of right guesses of each victim.

    Profiles x atoms by weight; `size` is the number of terms of an atom. Victims x atoms: how many terms of it are
    told, and how many are true and not told. Atoms of equal weight share a rank; a profile is ranked once.
    """
    rank_of = np.full(len(size), -1, dtype=np.int64)
    ranked = np.empty(0, dtype=np.int64)
    terms = np.empty(0)
    hits, hand = np.zeros(len(picked)), -1
    for victim in order:
        if picked[victim] != hand:
            hand = picked[victim]
            rank_of[ranked] = -1
            a, b = start[hand], start[hand + 1]
            ranked, terms = _rank(atom[a:b], weight[a:b], size, guesses + most_told, rank_of)
        there, right = terms.copy(), np.zeros(len(terms))
        for i in range(told_start[victim], told_start[victim + 1]):
            if rank_of[told[i]] >= 0:
                there[rank_of[told[i]]] -= told_terms[i]
        for i in range(fresh_start[victim], fresh_start[victim + 1]):
            if rank_of[fresh[i]] >= 0:
                right[rank_of[fresh[i]]] += fresh_terms[i]
        left = float(guesses)
        for rank in range(len(terms)):
            if left <= 0:
                break
            if there[rank] > 0:
                hits[victim] += right[rank] * min(1.0, left / there[rank])
                left -= there[rank]
    return hits


@njit(cache=True)
def _rank(
    atom: np.ndarray, weight: np.ndarray, size: np.ndarray, enough: int, rank_of: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Rank atoms by weight until the ranks hold enough terms: the ranked atoms, and the terms of each rank."""
    order = np.argsort(-weight, kind="mergesort")
    terms = np.zeros(len(order))
    total, rank, ranked = 0.0, -1, 0
    last = np.inf
    for place in order:
        if weight[place] <= 0:
            break
        if weight[place] < last * (1 - _TIE) or rank < 0:
            if total >= enough:
                break
            rank += 1
        last = weight[place]
        terms[rank] += size[atom[place]]
        total += size[atom[place]]
        rank_of[atom[place]] = rank
        ranked += 1
    return atom[order[:ranked]].astype(np.int64), terms[: rank + 1].copy()
