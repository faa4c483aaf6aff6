"""What does semantic microaggregation publish? One centroid log for k users whose queries are about the same topics."""

import numpy as np
from scipy.sparse import csr_array

from shoal.anonymizer.base import Anonymized, Claim, LogMethod, MethodInfo, Suppressed
from shoal.anonymizer.methods.microaggregation.centroid_log import centroid_logs
from shoal.anonymizer.methods.microaggregation.incidence import KEPT_USERS, make_incidence
from shoal.anonymizer.methods.microaggregation.similar_clusters import join_most_similar, partition, partition_in_blocks
from shoal.anonymizer.parameters import Parameter, group_size, one_of, whole_number
from shoal.anonymizer.publish import publish
from shoal.corpus.knowledge.directory import classification_matrices
from shoal.corpus.profiles import Profiles, query_term_counts
from shoal.corpus.progress import Progress, silent
from shoal.corpus.querylog import QueryLog


class Microaggregation(LogMethod):
    """Erola, Castellà-Roca, Navarro-Arribas & Torra (2011), section 3, Algorithms 1 to 5.

    Guarantee: every published profile is the centroid log of at least k users, all of whom share it.

    A query none of whose words is a term publishes nothing and is not counted in |Q|. A user without any other takes
    no part. A user whose terms the topic directory does not know is similar to nobody (0): such users are grouped
    last, with whoever is left.
    """

    info = MethodInfo(
        id="microaggregation",
        title="Centroid logs of users with similar topics",
        paper="Erola, Castellà-Roca, Navarro-Arribas & Torra 2011, Semantic microaggregation for the anonymization of "
        "query logs using the open directory project",
        unit="user",
        protects="Which of at least k users with similar topics a published log belongs to.",
        does_not_protect="The words of a query that enters a centroid log stand there as one member typed them, so a "
        "name or another rare word among them points to that member.",
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
        terms, query_terms = query_term_counts(log, self.knowledge.words)
        asked = _asked(log, np.diff(query_terms.indptr) > 0)
        users = np.flatnonzero(np.diff(asked.indptr))
        self.need_users(len(users), self.k)
        asked = asked[users]
        profiles = Profiles(log.users.gather(users), terms, csr_array(asked @ query_terms))
        cluster = self._clusters(profiles, progress)
        weights = csr_array(centroid_logs(asked, cluster, np.random.default_rng(seed)) @ query_terms)
        suppressed = Suppressed(_left_out(profiles, cluster, weights), len(log.users) - len(users))
        return publish(log.users, (users, cluster), weights.astype(float), terms, self.claim(), suppressed)

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


def _asked(log: QueryLog, has_terms: np.ndarray) -> csr_array:
    """Users x queries: how often each user asked each query that holds a term."""
    kept = has_terms[log.query]
    start = np.concatenate([[0], np.cumsum(kept)])[log.start]
    shape = (len(log.users), len(log.queries))
    asked = csr_array((np.ones(int(kept.sum()), dtype=np.int32), log.query[kept], start), shape=shape)
    asked.sum_duplicates()
    return asked


def _left_out(profiles: Profiles, cluster: np.ndarray, weights: csr_array) -> int:
    """The occurrences of terms that the centroid log of their user's cluster does not hold at all."""
    members = csr_array((np.ones(len(cluster), dtype=np.int64), (cluster, np.arange(len(cluster)))))
    together = csr_array(members @ profiles.counts)
    return int(together.sum() - together.multiply(weights > 0).sum())
