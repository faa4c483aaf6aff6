"""Can the attacker find the victim's profile? The published profile under which the known terms are likeliest."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array

from shoal.anonymizer.base import Assignment
from shoal.corpus.progress import Progress, silent
from shoal.evaluation.attacks.victims import Victims
from shoal.evaluation.attacks.view import PublishedView

_BLOCK = 256  # victims scored at a time
_TIE = 1e-9


@dataclass(frozen=True, eq=False)
class Linkage:
    """For each victim: the chance that the user the attacker names is the victim, and the first profile picked."""

    success: np.ndarray
    picked: np.ndarray  # a row of the release, -1 where it is empty


def evidence(view: PublishedView, terms: Sequence[str]) -> csr_array:
    """Terms x profiles: how much a known term speaks for a profile, as a logarithm; 0 where the profile lacks it."""
    every = csr_array((np.ones(len(terms)), (np.arange(len(terms)),) * 2), shape=(len(terms),) * 2)
    return csr_array(view.over_atoms(every, terms) @ view.speaks)


def best_profiles(scores: np.ndarray) -> np.ndarray:
    """Where a profile scores as high as the highest of its row. Sums in another order may differ in the last digits."""
    return np.asarray(scores >= scores.max(axis=-1, keepdims=True) - _TIE)


def link(
    view: PublishedView,
    assignment: Assignment,
    victims: Victims,
    known: csr_array,
    terms: Sequence[str] | None = None,
    progress: Progress = silent,
) -> Linkage:
    """Attack every victim with what is known: victims x `terms` (those of the victims' profiles); counts weigh.

    Success = [the victim's profile is picked] / (users that share it), ties between profiles shared. Without a
    published profile the attacker can only guess a user; nor can a victim without one be found better than that.
    """
    chance = 1 / max(1, len(victims.profiles))
    success, picked = np.full(len(victims), chance), np.full(len(victims), -1)
    if len(view.release) == 0:
        return Linkage(success, picked)
    told = view.over_atoms(known, victims.profiles.terms if terms is None else terms)
    held = profiles_of(victims, assignment, len(view.release))
    has_profile = np.diff(held.indptr) > 0
    for low in range(0, len(victims), _BLOCK):
        progress(low, len(victims), "attacking")
        rows = slice(low, min(low + _BLOCK, len(victims)))
        best = best_profiles((told[rows] @ view.speaks).toarray())
        right = best * held[rows].toarray() / np.maximum(1, view.release.users)
        success[rows] = np.where(has_profile[rows], right.sum(axis=1) / best.sum(axis=1), chance)
        picked[rows] = best.argmax(axis=1)
    return Linkage(success, picked)


def profiles_of(victims: Victims, assignment: Assignment, profiles: int) -> csr_array:
    """Victims x profiles, 1 where the victim has that profile."""
    row = assignment.rows_among(victims.profiles.users.gather(victims.user))
    there = row >= 0
    pairs = (np.ones(int(there.sum())), (row[there], assignment.profile[there]))
    held = csr_array(pairs, shape=(len(victims), profiles))
    held.data[:] = 1
    return held
