"""Do a few terms single a profile out? How many terms a victim must give away before they fit one profile only."""

import numpy as np
from numba import njit

from shoal.evaluation.attacks.linkage import whole
from shoal.evaluation.attacks.victims import KNOWN, Victims
from shoal.evaluation.attacks.view import PublishedView

NEVER = np.iinfo(np.int64).max


def singled_out_at(view: PublishedView, victims: Victims, most: int = max(KNOWN)) -> np.ndarray:
    """Of each victim, the number of known terms from which on one published profile is told from all others.

    A profile fits if something in it stands for each term known so far. A term that nothing published stands for fits
    no profile and is not skipped; but who was singled out by fewer terms stays so, since the attacker may forget.
    """
    start, term = victims.in_order(most)
    if len(view.release) == 0:
        return np.full(len(victims), NEVER)
    used, place = np.unique(term, return_inverse=True)
    atom = view.atoms.of([victims.profiles.terms[t] for t in used])[place]
    return np.asarray(_alone_from(start, atom, *whole(view.holders), len(view.release)))


@njit(cache=True)
def _alone_from(
    told_start: np.ndarray, told: np.ndarray,
    start: np.ndarray, profile: np.ndarray, weight: np.ndarray, profiles: int,
) -> np.ndarray:  # fmt: skip
    """The shortest beginning of each victim's atoms that exactly one profile holds; -1 is an atom of nothing."""
    found = np.full(len(told_start) - 1, NEVER)
    fits = np.zeros(profiles, dtype=np.int64)  # the atoms so far that a profile holds, if it holds all
    for victim in range(len(found)):
        fits[:] = 0
        for place in range(told_start[victim], told_start[victim + 1]):
            m, left = place - told_start[victim] + 1, 0
            for j in range(start[told[place]], start[told[place] + 1]) if told[place] >= 0 else range(0):
                if fits[profile[j]] == m - 1 and weight[j] > 0:
                    fits[profile[j]] = m
                    left += 1
            if left == 1:
                found[victim] = m
            if left <= 1:
                break
    return found
