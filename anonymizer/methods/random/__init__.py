"""A control: groups made at random."""

import numpy as np

from shoal.anonymizer.base import Anonymized, Claim, MethodInfo, ProfileMethod
from shoal.anonymizer.parameters import group_size
from shoal.anonymizer.publish import publish_centroids
from shoal.corpus.profiles import Profiles
from shoal.corpus.progress import Progress, silent


class Random(ProfileMethod):
    """Guarantee: every profile is shared by at least k users."""

    info = MethodInfo(
        id="random",
        title="Random groups of k users",
        paper="",
        unit="user",
        family="group",
        protects="Who of k users has which profile.",
        does_not_protect=(
            "Terms that only one member typed stand in the group's profile as they are: who knows some of them finds "
            "the group, and reads the rest."
        ),
        cluster="blocks",
    )
    k = group_size()

    def claim(self) -> Claim:
        return Claim("users-per-profile", {"k": self.k})

    def anonymize(self, profiles: Profiles, *, seed: int = 0, progress: Progress = silent) -> Anonymized:
        users = np.flatnonzero(profiles.size > 0)
        self.need_users(len(users), self.k)
        shuffled = np.random.default_rng(seed).permutation(users)
        group = np.full(len(profiles), -1)
        for number, members in enumerate(np.array_split(shuffled, len(users) // self.k)):
            group[members] = number
            progress(number, len(users) // self.k, "grouping users")
        return publish_centroids(profiles, group, self.claim())
