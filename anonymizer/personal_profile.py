"""The published profile that serves a person: the only one, the mean of several (sessions), or an empty one."""

import numpy as np
import polars as pl
from scipy.sparse import csr_array, vstack

from shoal.anonymizer.base import Assignment, Release


def mean_profile(release: Release, profiles: np.ndarray) -> csr_array:
    """One published profile, or the mean of several, or an empty one for none: a row over the labels."""
    share = csr_array(np.full((1, len(profiles)), 1 / max(len(profiles), 1)))
    return csr_array(share @ release.weights[profiles])


def profile_of(user: str, release: Release, assignment: Assignment) -> csr_array:
    """What is published of one user; empty for one who was suppressed."""
    place = assignment.users.index_of(user)
    return mean_profile(release, assignment.profile[assignment.user == (-1 if place is None else place)])


def profiles_of(users: pl.Series, release: Release, assignment: Assignment) -> tuple[csr_array, np.ndarray]:
    """The same for all users at once: rows over the labels, and the row of each user."""
    holder = assignment.rows_for(users)
    many = np.bincount(holder, minlength=len(users))
    if many.max(initial=0) <= 1:
        row_of = np.full(len(users), len(release))
        row_of[holder] = assignment.profile
        empty = csr_array((1, len(release.labels)))
        return csr_array(vstack([release.weights, empty], format="csr")), row_of
    share = csr_array((1 / many[holder], (holder, assignment.profile)), shape=(len(users), len(release)))
    return csr_array(share @ release.weights), np.arange(len(users))
