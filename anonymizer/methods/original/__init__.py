"""The ceiling of precision, and the floor of privacy: each user's own profile."""

import numpy as np

from shoal.anonymizer.base import Anonymized, Claim, MethodInfo, ProfileMethod
from shoal.anonymizer.publish import publish_centroids
from shoal.corpus.profiles import Profiles
from shoal.corpus.progress import Progress, silent


class Original(ProfileMethod):
    """Guarantee: none. The ceiling of precision, and the floor of privacy."""

    info = MethodInfo(
        id="original",
        title="Each user's own profile",
        paper="",
        unit="user",
        family="none",
        protects="Nothing but the name: each profile is published as it is, under a pseudonym.",
        does_not_protect="Anyone who knows a few of a person's terms finds the profile and reads the rest.",
        cluster="blocks",
    )

    def claim(self) -> Claim:
        return Claim("none")

    def anonymize(self, profiles: Profiles, *, seed: int = 0, progress: Progress = silent) -> Anonymized:
        progress(0, len(profiles), "publishing profiles")
        group = np.where(profiles.size > 0, np.cumsum(profiles.size > 0) - 1, -1)
        return publish_centroids(profiles, group, self.claim())
