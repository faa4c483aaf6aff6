"""What does semantic microaggregation publish? One centroid log for k users whose queries are about the same topics."""

import numba
import numpy as np
import polars as pl
from scipy.sparse import csr_array

from shoal.anonymizer.base import Anonymized, Claim, LogMethod, MethodInfo, ReleasedQueries, Suppressed
from shoal.anonymizer.distinct_queries import distinct_queries, only_columns
from shoal.anonymizer.methods.microaggregation.similar_clusters import (
    KEPT_USERS,
    join_most_similar,
    make_incidence,
    partition,
    partition_in_blocks,
)
from shoal.anonymizer.parameters import Parameter, group_size, one_of, whole_number
from shoal.anonymizer.publish import publish
from shoal.corpus.knowledge.directory import classification_matrices
from shoal.corpus.profiles import Profiles, query_term_counts
from shoal.corpus.progress import Progress, silent
from shoal.corpus.querylog import QueryLog


class Microaggregation(LogMethod):
    """Erola, Castellà-Roca, Navarro-Arribas & Torra (2011), section 3, Algorithms 1 to 5.

    Guarantee: every published log is the centroid log of at least k users, all of whom share it.

    What Algorithm 5 gives is a query log, and it is published: under a pseudonym per cluster, in lower case and with
    single blanks, and with the number of members as the degree of each query. The profile is made of that log.

    A query none of whose words is a term is never published and is not counted in |Q|. A user without any other takes
    no part. A user whose terms the topic directory does not know is similar to nobody (0): such users are grouped
    last, with whoever is left. Suppressed is every event whose query is not in the log that its user shares.
    """

    info = MethodInfo(
        id="microaggregation",
        title="Centroid logs of users with similar topics",
        paper="Erola, Castellà-Roca, Navarro-Arribas & Torra 2011, Semantic microaggregation for the anonymization of "
        "query logs using the open directory project",
        unit="user",
        family="group",
        protects="Which of at least k users with similar topics a published log belongs to.",
        does_not_protect="The queries themselves: each is published as a member typed it, a query or a rare word that "
        "only one user ever typed like any other (of 20,000 simulated users at k=3, half of the published queries are "
        "of one user alone, and nearly every log holds some), so whoever knows one points to its member, and reads "
        "more of that member's queries among those of the others.",
        cluster="blocks",
    )
    k = group_size(3)
    levels = Parameter(5, whole_number(1, 20), "how deep in the topic directory categories are compared", "neither")
    categories = Parameter(5, whole_number(1, 100), "how many of a term's best categories count", "neither")
    search = Parameter(
        "auto",
        one_of("auto", "exact", "blocks"),
        "how similar users are found: exact compares all, blocks only users with about "
        f"as many queries (for large logs), auto is exact up to {KEPT_USERS} users and blocks above",
        "neither",
    )

    def claim(self) -> Claim:
        return Claim("user-k-anonymity", {"k": self.k})

    def anonymize(self, log: QueryLog, *, seed: int = 0, progress: Progress = silent) -> Anonymized:
        queries = distinct_queries(log)
        terms, counts = query_term_counts(log, self.knowledge.words)
        query_terms = csr_array(counts[queries.source])
        asked = only_columns(queries.asked, np.diff(query_terms.indptr) > 0)
        users = np.flatnonzero(np.diff(asked.indptr))
        self.need_users(len(users), self.k)
        asked = csr_array(asked[users])
        cluster = self._clusters(Profiles(log.users.gather(users), terms, csr_array(asked @ query_terms)), progress)
        logs = centroid_logs(asked, cluster, np.random.default_rng(seed))
        suppressed = Suppressed(len(log) - _events_kept(asked, cluster, logs), len(log.users) - len(users))
        weights, released = csr_array(logs @ query_terms).astype(float), _released(logs, queries.texts, cluster)
        return publish(log.users, (users, cluster), weights, terms, self.claim(), suppressed, queries=released)

    def _clusters(self, profiles: Profiles, progress: Progress) -> np.ndarray:
        """Data preparation (Algorithms 1, 2) and partition (3, 4)."""
        matrices = classification_matrices(profiles, self.knowledge.directory, self.levels, self.categories, progress)
        incidence = make_incidence(matrices)
        if self._search(len(profiles)) == "blocks":
            cluster = partition_in_blocks(incidence.categories, self.k, progress)
        else:
            cluster = partition(incidence, self.k, progress)
        return join_most_similar(incidence, cluster, progress)

    def _search(self, users: int) -> str:
        return self.search if self.search != "auto" else ("exact" if users <= KEPT_USERS else "blocks")


def _released(logs: csr_array, texts: pl.Series, cluster: np.ndarray) -> ReleasedQueries:
    """The centroid logs as public rows. The degree of a query is the number of members who share the log."""
    row = np.repeat(np.arange(logs.shape[0], dtype=np.int32), np.diff(logs.indptr))
    return ReleasedQueries(row, texts.gather(logs.indices), logs.data.astype(np.int64), np.bincount(cluster)[row])


def _events_kept(asked: csr_array, cluster: np.ndarray, logs: csr_array) -> int:
    """The events whose query is in the centroid log of their user's cluster."""
    members = csr_array((np.ones(len(cluster), dtype=np.int64), (cluster, np.arange(len(cluster)))))
    return int(csr_array(members @ asked).multiply(logs > 0).sum())


def centroid_logs(asked: csr_array, cluster: np.ndarray, rng: np.random.Generator) -> csr_array:
    """Algorithm 5 of Erola et al. for every cluster: how often each query enters its centroid log.

    `asked` is users x queries with repetitions, each user asked something; `cluster` is each user's cluster.
    """
    size = np.asarray(asked.sum(axis=1)).ravel().astype(np.int64)
    total = np.bincount(cluster, weights=size).astype(np.int64)
    quota = quotas(size, cluster, rng.random(len(size)))
    order = _by_repetitions(asked, rng.random(asked.nnz))
    repetitions = asked.data[order].astype(np.int64)
    copies = chosen_copies(
        asked.indptr.astype(np.int64), repetitions, size, total[cluster], quota, rng.random(asked.nnz)
    )
    row = np.repeat(cluster, np.diff(asked.indptr))
    logs = csr_array((copies, (row, asked.indices[order])), shape=(len(total), asked.shape[1]))
    logs.eliminate_zeros()
    return logs


def quotas(size: np.ndarray, cluster: np.ndarray, tie: np.ndarray) -> np.ndarray:
    """Quota_i = |Q_i| / k (Equation 3) in whole queries, so that together they make the mean size of the logs.

    All get the whole part; the rest goes to the largest fractions, and among equals to the smallest `tie`.
    """
    members = np.bincount(cluster)
    total = np.bincount(cluster, weights=size).astype(np.int64)
    quota, fraction = np.divmod(size, members[cluster])
    mean = (2 * total + members) // (2 * members)
    rest = mean - np.bincount(cluster, weights=quota).astype(np.int64)
    order = np.lexsort((tie, -fraction, cluster))
    place = np.arange(len(order)) - np.concatenate([[0], np.cumsum(members)])[cluster[order]]
    quota[order] += place < rest[cluster[order]]
    return quota


def _by_repetitions(asked: csr_array, tie: np.ndarray) -> np.ndarray:
    """The entries of each user, the most repeated query first; among equals the smallest `tie`."""
    user = np.repeat(np.arange(asked.shape[0]), np.diff(asked.indptr))
    return np.lexsort((tie, -asked.data, user))


@numba.njit(cache=True)
def chosen_copies(
    start: np.ndarray,
    repetitions: np.ndarray,
    size: np.ndarray,
    total: np.ndarray,
    quota: np.ndarray,
    chance: np.ndarray,
) -> np.ndarray:
    """How often each query of each user enters the centroid log.

    In order: floor(x) times, and once more with probability frac(x), for x = Contrib_i * repetitions and
    Contrib_i = |Q_i| / sum of |Q| (Equation 2), until the quota is reached. A list that ends before (x is small where
    a user asked less than the others) is walked again, each query with repetitions left entering once, so that
    the log gets its mean size and no user less than the quota.
    """
    copies = np.zeros(len(repetitions), dtype=np.int64)
    for user in range(len(quota)):
        missing = quota[user]
        for entry in range(start[user], start[user + 1]):
            x = size[user] * repetitions[entry]
            enters = x // total[user] + (chance[entry] * total[user] < x % total[user])
            copies[entry] = min(enters, missing)
            missing -= copies[entry]
        while missing > 0:
            for entry in range(start[user], start[user + 1]):
                if missing > 0 and copies[entry] < repetitions[entry]:
                    copies[entry] += 1
                    missing -= 1
    return copies
