"""How bad is it at the worst? The attackers that ARX names: prosecutor, journalist and marketer."""

from dataclasses import dataclass

import numpy as np

from shoal.anonymizer.base import Assignment
from shoal.evaluation.attacks.linkage import Linkage, profiles_of
from shoal.evaluation.attacks.victims import Victims


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
