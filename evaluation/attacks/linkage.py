"""Can the attacker find the victim's profile? The published profile under which the known terms are likeliest."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array

from shoal.anonymizer.base import Assignment
from shoal.corpus.profiles import Profiles
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


def link_later(view: PublishedView, assignment: Assignment, victims: Victims, later: Profiles) -> float | None:
    """The success of linking all that victims asked later, repetitions counted; None if none of them asked anything.

    `later` are the profiles of the test events. No number of known terms is chosen: the attacker holds them all.
    """
    position = {name: row for row, name in enumerate(later.users.to_list())}
    names = victims.profiles.users.gather(victims.user).to_list()
    row = np.array([position.get(name, -1) for name in names], dtype=np.int64)
    asked = np.flatnonzero((row >= 0) & (later.size[row] > 0)) if len(later) else np.empty(0, dtype=np.int64)
    if len(asked) == 0:
        return None
    seen = Victims(victims.user[asked], victims.profiles, victims.order)
    known = csr_array(later.counts[row[asked]].astype(float))
    return float(link(view, assignment, seen, known, later.terms).success.mean())


@dataclass(frozen=True)
class Attackers:
    """The chance that a victim is named, for three attackers with the same knowledge and different aims."""

    prosecutor: float  # looks for one person: the worst user
    journalist: float  # wants to show that someone can be found: the worst group, in the mean over its victims
    marketer: float  # wants to find as many as possible: the mean


def attackers(linked: Linkage, victims: Victims, assignment: Assignment, profiles: int) -> Attackers:
    """The three risks of one linkage attack. A victim without a profile is in no group."""
    if len(victims) == 0:
        return Attackers(0.0, 0.0, 0.0)
    held = profiles_of(victims, assignment, profiles)
    there = np.asarray(held.sum(axis=0)).ravel()
    by_group = (held.T @ linked.success)[there > 0] / there[there > 0]
    worst = float(linked.success.max())
    marketer = float(linked.success.mean())
    return Attackers(worst, float(by_group.max(initial=0.0)) if len(by_group) else worst, marketer)
