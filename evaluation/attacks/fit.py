"""What if the attacker saw the victim later? Whoever holds a victim's test events looks for the profile that fits."""

import numpy as np
from scipy.sparse import csr_array

from shoal.anonymizer.base import Assignment
from shoal.corpus.profiles import Profiles
from shoal.evaluation.attacks.linkage import link
from shoal.evaluation.attacks.victims import Victims
from shoal.evaluation.attacks.view import PublishedView


def fit(view: PublishedView, assignment: Assignment, victims: Victims, later: Profiles) -> float | None:
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
