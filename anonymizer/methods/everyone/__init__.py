"""A control: one group of all users, and its mean."""

import numpy as np

from shoal.anonymizer.base import Anonymized, Claim, MethodInfo, ProfileMethod
from shoal.anonymizer.publish import publish_centroids
from shoal.corpus.errors import InputError
from shoal.corpus.profiles import Profiles
from shoal.corpus.progress import Progress, silent


class Everyone(ProfileMethod):
    """Guarantee: all users share one profile."""

    info = MethodInfo(
        id="everyone",
        title="One group of all users",
        paper="",
        unit="user",
        family="group",
        protects="Who has which profile: there is only one.",
        does_not_protect=(
            "A term that a single user typed is still in the average, for all to see, and its weight tells how often "
            "it was typed."
        ),
    )

    def claim(self) -> Claim:
        return Claim("one-profile")

    def anonymize(self, profiles: Profiles, *, seed: int = 0, progress: Progress = silent) -> Anonymized:
        if not profiles.size.any():
            raise InputError("no user of the log has a profile: its queries hold no term that the dictionary knows")
        progress(0, len(profiles), "averaging profiles")
        return publish_centroids(profiles, np.where(profiles.size > 0, 0, -1), self.claim())
