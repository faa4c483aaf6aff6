"""Can the attacker find the victim's profile? The published profile under which the known terms are likeliest."""

from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array, vstack

from anonymizer.base import Assignment
from evaluation.attacks.victims import Victims
from evaluation.attacks.view import PublishedView

# Jelinek-Mercer smoothing: P(t) = (1 - SMOOTHING) P(t | profile) + SMOOTHING P(t | release).
SMOOTHING = 0.1
_BLOCK = 256  # victims scored at a time
_TIE = 1e-9


@dataclass(frozen=True, eq=False)
class Linkage:
    """For each victim: the chance that the user the attacker names is the victim, and the first profile picked."""

    success: np.ndarray
    picked: np.ndarray  # a row of the release, -1 where it is empty


def evidence(view: PublishedView, terms: list[str]) -> csr_array:
    """Terms x profiles: how much a known term speaks for a profile, as a logarithm; 0 where the profile lacks it.

    What a profile lacks costs every profile the same, log(SMOOTHING P(t)), so it decides nothing and is left out.
    """
    matrix = view.profiles_over(terms)
    background = np.maximum(view.whole_over(terms), 1e-300)
    matrix.data = np.log1p((1 - SMOOTHING) * matrix.data / (SMOOTHING * background[matrix.indices]))
    return csr_array(matrix.T)


def link(view: PublishedView, assignment: Assignment, victims: Victims, known: csr_array) -> Linkage:
    """Attack every victim with what is known (victims x terms of the victims' profiles; counts weigh).

    Success = [the victim's profile is picked] / (users that share it), ties between profiles shared. Without a
    published profile the attacker can only guess a user; nor can a victim without one be found better than that.
    """
    chance = 1 / max(1, len(victims.profiles))
    success, picked = np.full(len(victims), chance), np.full(len(victims), -1)
    if len(view.release) == 0:
        return Linkage(success, picked)
    used = np.unique(known.indices)
    speaks = evidence(view, [victims.profiles.terms[t] for t in used])
    known = csr_array(known[:, used])
    held = _profiles_of(victims, assignment, len(view.release))
    for low in range(0, len(victims), _BLOCK):
        rows = slice(low, min(low + _BLOCK, len(victims)))
        scores = (known[rows] @ speaks).toarray()
        best = scores >= scores.max(axis=1, keepdims=True) - _TIE
        right = best * held[rows].toarray() / np.maximum(1, view.release.users)
        has_profile = np.diff(held.indptr)[rows] > 0
        success[rows] = np.where(has_profile, right.sum(axis=1) / best.sum(axis=1), chance)
        picked[rows] = best.argmax(axis=1)
    return Linkage(success, picked)


def _profiles_of(victims: Victims, assignment: Assignment, profiles: int) -> csr_array:
    """Victims x profiles, 1 where the victim has that profile."""
    position = {name: i for i, name in enumerate(assignment.users.to_list())}
    names = victims.profiles.users.gather(victims.user).to_list()
    pairs = csr_array(assignment.pairs(profiles))
    empty = csr_array((1, profiles))
    rows = [pairs[[position[name]]] if name in position else empty for name in names]
    return csr_array(vstack(rows, format="csr")) if rows else csr_array((0, profiles))
