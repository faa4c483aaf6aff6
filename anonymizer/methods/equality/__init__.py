"""Which queries are safe because enough users typed them? Query k-anonymity under equality (EQ)."""

from collections.abc import Mapping

import numpy as np
import polars as pl

from shoal.anonymizer.base import Anonymized, Claim, LogMethod, MethodInfo
from shoal.anonymizer.blocks import CountedMethod, counts_of, total_of, totals
from shoal.anonymizer.distinct_queries import distinct_queries
from shoal.anonymizer.parameters import AT_LEAST_TWO, Parameter
from shoal.anonymizer.publish import publish_unchanged
from shoal.corpus.progress import Progress, silent
from shoal.corpus.querylog import QueryLog


class Equality(LogMethod, CountedMethod):
    """Adar 2007, as the baseline EQ of Carpineto & Romano 2014, sections 1 and 4.

    Guarantee: every released query was typed, as this very string, by at least k users who all release it.
    Strings are compared in lower case and with single blanks.
    """

    info = MethodInfo(
        id="equality",
        title="Queries that k users typed",
        paper="C. Carpineto, G. Romano: K-theta-affinity privacy: releasing infrequent query refinements safely. "
        "Information Processing and Management, 2014 (the baseline EQ; first in E. Adar, 2007)",
        unit="query",
        family="suppress",
        protects="Who typed a released query: at least k users did.",
        does_not_protect="What a user's released queries tell together, and a log in which an attacker planted users: "
        "k of them bring out whatever they type.",
        cluster="counts",
    )
    k = Parameter(5, AT_LEAST_TWO, "the fewest users who typed a released query", "higher")

    def claim(self) -> Claim:
        return Claim("query-k-anonymity", {"k": self.k})

    def anonymize(self, log: QueryLog, *, seed: int = 0, progress: Progress = silent) -> Anonymized:
        self.need_users(len(log.users), self.k)
        progress(0, 2, "counting the users of each query")
        queries = distinct_queries(log)
        progress(1, 2, "counting the users of each query")
        made = publish_unchanged(log, queries, queries.users, self.k, self.claim(), self.knowledge)
        progress(2, 2, "counting the users of each query")
        return made

    def fewest(self) -> Mapping[str, int]:
        return {"query": self.k}

    def count_block(self, log: QueryLog, seed: int) -> pl.DataFrame:
        queries = distinct_queries(log)
        return totals(users=len(log.users), query=dict(zip(queries.texts, queries.users.tolist(), strict=True)))

    def run_block(self, log: QueryLog, totals: pl.DataFrame, seed: int, progress: Progress) -> Anonymized:
        self.need_users(total_of(totals, "users"), self.k)
        queries, users = distinct_queries(log), counts_of(totals, "query")
        degree = np.array([users.get(text, 0) for text in queries.texts], dtype=np.int64)
        return publish_unchanged(log, queries, degree, self.k, self.claim(), self.knowledge)
