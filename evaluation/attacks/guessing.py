"""How many guesses are right? The heaviest terms of a profile that are not known, ties as chance expects."""

import numpy as np
from numba import njit

_TIE = 1e-9  # of a weight


@njit(cache=True)
def right_guesses(
    picked: np.ndarray, order: np.ndarray,  # the profile of each victim, and the victims sorted by it
    start: np.ndarray, atom: np.ndarray, weight: np.ndarray, size: np.ndarray,
    told_start: np.ndarray, told: np.ndarray, told_terms: np.ndarray,
    fresh_start: np.ndarray, fresh: np.ndarray, fresh_terms: np.ndarray,
    guesses: int, most_told: int,
) -> float:  # fmt: skip
    """The expected number of right guesses over all victims.

    Profiles x atoms by weight; `size` is the number of terms of an atom. Victims x atoms: how many terms of it are
    told, and how many are true and not told. Atoms of equal weight share a rank; a profile is ranked once.
    """
    rank_of = np.full(len(size), -1, dtype=np.int64)
    ranked = np.empty(0, dtype=np.int64)
    terms = np.empty(0)
    hits, hand = 0.0, -1
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
                hits += right[rank] * min(1.0, left / there[rank])
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
