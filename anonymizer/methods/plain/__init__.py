"""The floor of precision: no profile is published."""

import numpy as np
from scipy.sparse import csr_array

from shoal.anonymizer.base import Anonymized, Claim, MethodInfo, ProfileMethod, Suppressed
from shoal.anonymizer.publish import publish
from shoal.corpus.profiles import Profiles
from shoal.corpus.progress import Progress, silent


class Plain(ProfileMethod):
    """Guarantee: nothing is published, so nothing can be learned from it."""

    info = MethodInfo(
        id="plain",
        title="No profile at all",
        paper="",
        unit="user",
        family="none",
        protects="Everything: no profile is published and the search is not personalized.",
        does_not_protect="The queries themselves, which the engine still sees.",
        cluster="blocks",
    )

    def claim(self) -> Claim:
        return Claim("nothing-published")

    def anonymize(self, profiles: Profiles, *, seed: int = 0, progress: Progress = silent) -> Anonymized:
        progress(0, len(profiles), "leaving profiles out")
        nobody = np.empty(0, dtype=np.int32)
        suppressed = Suppressed(int(profiles.occurrences.sum()), len(profiles))
        return publish(profiles.users, (nobody, nobody), csr_array((0, 0), dtype=float), [], self.claim(), suppressed)
