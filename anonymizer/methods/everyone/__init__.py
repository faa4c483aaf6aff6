"""A control: one group of all users, and its mean."""

import numpy as np
import polars as pl
from scipy.sparse import csr_array

from shoal.anonymizer.base import Anonymized, Claim, MethodInfo, ProfileMethod, Suppressed
from shoal.anonymizer.blocks import CountedMethod, counts_of, total_of, totals
from shoal.anonymizer.publish import publish, publish_centroids
from shoal.corpus.errors import InputError
from shoal.corpus.profiles import Profiles, build_profiles
from shoal.corpus.progress import Progress, silent
from shoal.corpus.querylog import QueryLog


class Everyone(ProfileMethod, CountedMethod):
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
        cluster="counts",
    )
    one_profile = True

    def claim(self) -> Claim:
        return Claim("one-profile")

    def anonymize(self, profiles: Profiles, *, seed: int = 0, progress: Progress = silent) -> Anonymized:
        _need_profiles(int(np.count_nonzero(profiles.size)))
        progress(0, len(profiles), "averaging profiles")
        return publish_centroids(profiles, np.where(profiles.size > 0, 0, -1), self.claim())

    def count_block(self, log: QueryLog, seed: int) -> pl.DataFrame:
        profiles = build_profiles(log, self.knowledge.words)
        typed = profiles.counts.sum(axis=0).tolist()
        return totals(users=int(np.count_nonzero(profiles.size)), typed=dict(zip(profiles.terms, typed, strict=True)))

    def run_block(self, log: QueryLog, totals: pl.DataFrame, seed: int, progress: Progress) -> Anonymized:
        profiles, typed = build_profiles(log, self.knowledge.words), counts_of(totals, "typed")
        _need_profiles(users := total_of(totals, "users"))
        members, mean = np.flatnonzero(profiles.size), np.array(list(typed.values())) / users
        weights = csr_array((mean, np.arange(len(mean)), [0, len(mean)]), shape=(1, len(mean)))
        suppressed = Suppressed(0, len(profiles) - len(members))
        shared = (members, np.zeros(len(members), dtype=np.int64))
        return publish(profiles.users, shared, weights, list(typed), self.claim(), suppressed)


def _need_profiles(users: int) -> None:
    if not users:
        raise InputError("no user of the log has a profile: its queries hold no term that the dictionary knows")
