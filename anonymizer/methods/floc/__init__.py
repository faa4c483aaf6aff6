"""FLoC: how did browsers once make cohorts? SimHash of a profile, sorted, and cut into groups of at least k.

D. Ravichandran and S. Vassilvitskii, Evaluation of Cohort Algorithms for the FLoC API, 2020: SortingLSH.
"""

import numpy as np

from shoal.anonymizer.base import Anonymized, Claim, MethodInfo, ProfileMethod
from shoal.anonymizer.parameters import group_size
from shoal.anonymizer.publish import publish_centroids
from shoal.corpus.profiles import Profiles
from shoal.corpus.progress import Progress, silent

BITS = 50  # of a hash, as in the browser that did it


class Floc(ProfileMethod):
    """Guarantee: every profile is shared by at least k users."""

    info = MethodInfo(
        id="floc",
        title="Cohorts of profiles with a similar hash",
        paper="D. Ravichandran, S. Vassilvitskii (2020), Evaluation of Cohort Algorithms for the FLoC API (SortingLSH)",
        unit="user",
        family="group",
        protects="Who of k users has which profile.",
        does_not_protect=(
            "Terms that only one member typed stand in the cohort's profile as they are: who knows some of them finds "
            "the cohort, and reads the rest."
        ),
        cluster="blocks",
    )
    k = group_size()

    def claim(self) -> Claim:
        return Claim("users-per-profile", {"k": self.k})

    def anonymize(self, profiles: Profiles, *, seed: int = 0, progress: Progress = silent) -> Anonymized:
        users = np.flatnonzero(profiles.size > 0)
        self.need_users(len(users), self.k)
        progress(0, len(users), "hashing profiles")
        hashes = sim_hashes(profiles, seed)[users]
        progress(len(users), len(users), "sorting hashes")
        order = users[np.lexsort(hashes.T[::-1])]
        group = np.full(len(profiles), -1)
        group[order] = np.minimum(np.arange(len(order)) // self.k, len(order) // self.k - 1)
        return publish_centroids(profiles, group, self.claim())


def hyperplanes(terms: int, seed: int) -> np.ndarray:
    """Terms x bits, each +1 or -1: whole numbers, so that the side on which a profile lies is exact."""
    return np.random.default_rng(seed).integers(0, 2, (terms, BITS), dtype=np.int8) * 2 - 1


def sim_hashes(profiles: Profiles, seed: int) -> np.ndarray:
    """Users x bits: on which side of each hyperplane the set of a user's terms lies."""
    sides = profiles.counts.sign().astype(np.int32) @ hyperplanes(len(profiles.terms), seed).astype(np.int32)
    return np.asarray(sides > 0)
