"""Differentially private queries: which were asked by so many that one user more or less makes no difference?"""

import numpy as np
import polars as pl
from scipy.sparse import csr_array

from shoal.anonymizer.base import Anonymized, Claim, LogMethod, MethodInfo, ReleasedQueries
from shoal.anonymizer.blocks import counts_of, totals
from shoal.anonymizer.distinct_queries import distinct_queries, only_columns
from shoal.anonymizer.noisy_counts import PER_USER, PrivateCounts, counted_users, noisy_columns
from shoal.anonymizer.parameters import Parameter
from shoal.corpus.profiles import term_counts
from shoal.corpus.progress import Progress, silent
from shoal.corpus.querylog import QueryLog
from shoal.corpus.tokens import tokenize_column


class DpQueries(LogMethod, PrivateCounts):
    """Korolova, Kenthapadi, Mishra, Ntoulas 2009, Algorithm 1, with OpenDP's noise and accounting.

    Guarantee: whatever is published has at most e^epsilon times the probability, and delta more, that it has when any
    one user's whole log is added or taken away. It does not hold for the manifest, which counts the users and has the
    log's digest. There are no pseudonyms: one public profile, of the published queries, for all.
    """

    info = MethodInfo(
        id="dp-queries",
        title="Queries with noisy counts, differentially private",
        paper="A. Korolova, K. Kenthapadi, N. Mishra, A. Ntoulas: Releasing search queries and clicks privately. "
        "WWW, 2009",
        unit="log",
        family="noise",
        protects=(
            "A whole user: what is published would be published almost as likely if that user had never searched, "
            "whatever an attacker knows."
        ),
        does_not_protect=(
            "What many people ask, which is all that is left: nothing personal. The number of users and the digest of "
            "the log in the manifest are exact; who has all of the log but one user's part can try guesses of that "
            "part against the digest. A second release of the same people adds its epsilon and delta."
        ),
        randomness="secret",
        cluster="counts",
    )
    per_user = Parameter(20, PER_USER, "how many different queries of a user count, at most", "neither")

    def claim(self) -> Claim:
        return Claim("private-query-counts", dict(self.settings))

    def anonymize(self, log: QueryLog, *, seed: int = 0, progress: Progress = silent) -> Anonymized:
        self.need_users(len(log.users), 1)
        queries = distinct_queries(log)
        held = only_columns(queries.asked, queries.users > 0)
        chosen, count = noisy_columns(held, self.epsilon, self.delta, self.per_user, seed, progress)
        return self._published(log.users, queries.texts.gather(chosen), count)

    def count_block(self, log: QueryLog, seed: int) -> pl.DataFrame:
        queries = distinct_queries(log)
        users = counted_users(only_columns(queries.asked, queries.users > 0), self.per_user, seed).tolist()
        return totals(query=dict(zip(queries.texts, users, strict=True)))

    def run_block(self, log: QueryLog, totals: pl.DataFrame, seed: int, progress: Progress) -> Anonymized:
        self.need_users(len(log.users), 1)
        chosen = counts_of(totals, "query")
        texts, count = pl.Series(list(chosen), dtype=pl.String), np.array(list(chosen.values()), dtype=np.int64)
        return self._published(log.users, texts, count)

    def _published(self, users: pl.Series, texts: pl.Series, count: np.ndarray) -> Anonymized:
        """The terms of the published queries, as often as these count."""
        labels, terms = term_counts(tokenize_column(texts), self.knowledge.words)
        weights = csr_array(count[None, :] @ terms).astype(float)
        rows = ReleasedQueries(np.zeros(len(texts), dtype=np.int32), texts, count, count)
        return self.publish_one(users, labels, weights, rows)
