"""What would the attacker now believe? The terms of the picked profile that were not known, likeliest first.

What does an attacker conclude about one person? Whom the known terms point to, and what would be believed.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numba import njit
from scipy.sparse import csr_array

from shoal.evaluation.attacks.linkage import Linkage, best_profiles, evidence, whole
from shoal.evaluation.attacks.victims import Victims
from shoal.evaluation.attacks.view import SMOOTHING, PublishedView

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


@dataclass(frozen=True)
class Suspect:
    """A published profile that the known terms may point to."""

    row: int  # of the release
    pseudonym: str
    users: int
    belief: float  # the attacker's probability that the victim is behind it
    holds: tuple[str, ...]  # the known terms that something in it stands for


@dataclass(frozen=True)
class Believed:
    """A term that was not known and is in the profile picked, with its share of that profile."""

    term: str
    weight: float


@dataclass(frozen=True)
class Conclusion:
    """All from what is public: the attacker does not know whether it is right."""

    known: tuple[str, ...]
    suspects: tuple[Suspect, ...]  # likeliest first
    picked: tuple[int, ...]  # the profiles that score highest; several if they tie
    believed: tuple[Believed, ...]  # of the first one picked, heaviest first


def attack(view: PublishedView, known: Sequence[str], suspects: int = 6, smoothing: float = SMOOTHING) -> Conclusion:
    """Score every published profile by the likelihood of the known terms; every user is as likely as any before."""
    terms = tuple(dict.fromkeys(known))
    if len(view.release) == 0 or not terms:
        return Conclusion(terms, (), (), ())
    speaks = evidence(view, terms, smoothing)
    scores = np.asarray(speaks.sum(axis=0)).ravel()
    likely = np.exp(scores - scores.max()) * view.release.users
    belief = likely / max(float(likely.sum()), 1e-300)
    first = np.lexsort((np.arange(len(scores)), -scores))[:suspects]
    picked = tuple(np.flatnonzero(best_profiles(scores)).tolist())
    return Conclusion(
        terms,
        tuple(_suspect(view, int(row), float(belief[row]), terms, speaks[:, [row]].toarray().ravel()) for row in first),
        picked,
        believed(view, picked[0], terms),
    )


def _suspect(view: PublishedView, row: int, belief: float, terms: tuple[str, ...], speaks: np.ndarray) -> Suspect:
    holds = tuple(term for term, value in zip(terms, speaks, strict=True) if value > 0)
    return Suspect(row, view.release.pseudonyms[row], int(view.release.users[row]), belief, holds)


def believed(view: PublishedView, row: int, known: Sequence[str], most: int = GUESSES) -> tuple[Believed, ...]:
    """The heaviest terms of a profile that were not known; of equal ones the first by name."""
    part = slice(view.profiles.indptr[row], view.profiles.indptr[row + 1])
    atom, weight = view.profiles.indices[part], view.profiles.data[part]
    order = np.argsort(-weight, kind="stable")
    found: list[Believed] = []
    for place in order.tolist():
        if len(found) >= most and weight[place] < found[most - 1].weight:
            break
        names = view.atoms.terms(int(atom[place]), most + len(known))
        found += [Believed(term, float(weight[place])) for term in names if term not in known]
    return tuple(sorted(found, key=lambda belief: (-belief.weight, belief.term))[:most])
