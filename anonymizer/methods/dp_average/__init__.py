"""Everyone's average with differential privacy: which terms do so many users hold that one makes no difference?"""

import numpy as np
import polars as pl
from scipy.sparse import csr_array

from shoal.anonymizer.base import Anonymized, Claim, MethodInfo, ProfileMethod
from shoal.anonymizer.blocks import counts_of, totals
from shoal.anonymizer.noisy_counts import PER_USER, PrivateCounts, counted_users, noisy_columns
from shoal.anonymizer.parameters import Parameter
from shoal.corpus.profiles import Profiles, build_profiles
from shoal.corpus.progress import Progress, silent
from shoal.corpus.querylog import QueryLog


class DpAverage(ProfileMethod, PrivateCounts):
    """Korolova et al. 2009, Algorithm 1, for the terms of profiles: what `everyone` is, with differential privacy.

    Guarantee: whatever is published has at most e^epsilon times the probability, and delta more, that it has when any
    one user's whole profile is added or taken away; the manifest's count of users and digest are not covered.
    """

    info = MethodInfo(
        id="dp-average",
        title="Everyone's average with noise, differentially private",
        paper="A. Korolova, K. Kenthapadi, N. Mishra, A. Ntoulas: Releasing search queries and clicks privately. "
        "WWW, 2009 (for terms instead of queries)",
        unit="log",
        family="noise",
        protects=(
            "A whole user: the average would be published almost as likely if that user had never searched, whatever "
            "an attacker knows."
        ),
        does_not_protect=(
            "What many people have in common, which is all that is left: nothing personal. The number of users and the "
            "digest of the log in the manifest are exact. A second release of the same people adds its epsilon and "
            "delta."
        ),
        randomness="secret",
        cluster="counts",
    )
    per_user = Parameter(20, PER_USER, "how many different terms of a user count, at most", "neither")

    def claim(self) -> Claim:
        return Claim("private-term-counts", dict(self.settings))

    def anonymize(self, profiles: Profiles, *, seed: int = 0, progress: Progress = silent) -> Anonymized:
        self.need_users(len(profiles), 1)
        held = profiles.counts
        chosen, count = noisy_columns(held, self.epsilon, self.delta, self.per_user, seed, progress)
        return self._published(profiles.users, [profiles.terms[term] for term in chosen], count)

    def count_block(self, log: QueryLog, seed: int) -> pl.DataFrame:
        profiles = build_profiles(log, self.knowledge.words)
        users = counted_users(profiles.counts, self.per_user, seed).tolist()
        return totals(term=dict(zip(profiles.terms, users, strict=True)))

    def run_block(self, log: QueryLog, totals: pl.DataFrame, seed: int, progress: Progress) -> Anonymized:
        self.need_users(len(log.users), 1)
        chosen = counts_of(totals, "term")
        return self._published(log.users, list(chosen), np.array(list(chosen.values()), dtype=np.int64))

    def _published(self, users: pl.Series, terms: list[str], count: np.ndarray) -> Anonymized:
        """The noisy count of each term."""
        weights = csr_array((count.astype(float), np.arange(len(terms)), [0, len(terms)]), shape=(1, len(terms)))
        return self.publish_one(users, terms, weights)
