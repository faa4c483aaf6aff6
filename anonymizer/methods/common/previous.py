"""Which groups of an earlier release stay? Those that still have k members, and a term that t of them used.

Two releases of the same people, grouped anew each time, can be intersected; groups that stay tell nothing of that kind.
"""

import numpy as np
from scipy.sparse import csr_array

from shoal.anonymizer.base import Assignment, find_names
from shoal.corpus.errors import InputError
from shoal.corpus.profiles import Profiles


def groups_that_stay(previous: Assignment | None, profiles: Profiles, users: np.ndarray, k: int, t: int) -> np.ndarray:
    """The group of each row of the profiles, counted from 0; -1 for who is new, takes no part or must be regrouped."""
    group = np.full(len(profiles), -1)
    if previous is None or len(users) == 0:
        return group
    group[users] = _groups_before(previous, profiles)[users]
    members = np.flatnonzero(group >= 0)
    if len(members) == 0:
        return group
    stays = _may_stay(group, members, profiles, k, t)
    number = np.where(stays, np.cumsum(stays) - 1, -1)
    group[members] = number[group[members]]
    return group


def _groups_before(previous: Assignment, profiles: Profiles) -> np.ndarray:
    """The group that each user of the log had, -1 for who had none."""
    if len(np.unique(previous.user)) < len(previous.user):
        raise InputError("the earlier release has users with several profiles each: name one where each has one")
    before = np.full(len(previous.users) + 1, -1)
    before[previous.user] = previous.profile
    return before[find_names(profiles.users, previous.users)]  # who was not there is the last entry


def _may_stay(group: np.ndarray, members: np.ndarray, profiles: Profiles, k: int, t: int) -> np.ndarray:
    """Of each earlier group, whether it has k members and publishes a term."""
    groups = int(group.max()) + 1
    ones = np.ones(len(members), dtype=np.int64)
    of_groups = csr_array((ones, (group[members], members)), shape=(groups, len(profiles)))
    holders = csr_array(of_groups @ profiles.counts.sign())
    row = np.repeat(np.arange(groups), np.diff(holders.indptr))
    shared = np.bincount(row[holders.data >= t], minlength=groups)
    return np.asarray((np.bincount(group[members], minlength=groups) >= k) & (shared > 0))
