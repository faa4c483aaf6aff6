"""How does Clump group users? Clusters of k transactions whose least common generalization loses little.

A. Milani Fard, Clustering-based Web Query Log Anonymization, thesis, 2010: Algorithm 4.5, with the least common
generalization of Definition 3.2.1 in closed form, or by Algorithm 5.6 (BUIG), which can miss it.
"""

import numpy as np
from scipy.sparse import csr_array

from shoal.anonymizer.base import Anonymized, Claim, MethodInfo, ProfileMethod
from shoal.anonymizer.methods.clump.clusters import (
    Clusters,
    assign,
    least_common_generalizations,
    losses_of,
    new_bench,
    open_clusters,
    reopened,
)
from shoal.anonymizer.parameters import Parameter, group_size, one_of, whole_number
from shoal.anonymizer.transactions import Transactions, publish_generalized, transactions_of
from shoal.corpus.knowledge.taxonomy import Taxonomy
from shoal.corpus.profiles import Profiles
from shoal.corpus.progress import Progress, silent

TRIALS_PER_BLOCK = 100_000  # of a transaction in a cluster, between two calls of progress: a few hundredths of a second


class Clump(ProfileMethod):
    """Guarantee: every published profile is a generalization of the profiles of at least k users, the same for all."""

    info = MethodInfo(
        id="clump",
        title="Clusters with a common generalization",
        paper="A. Milani Fard (2010), Clustering-based Web Query Log Anonymization, Simon Fraser University",
        unit="user",
        family="generalize",
        protects="Who of k users has which profile: all members share one, made of what they have in common.",
        does_not_protect=(
            "What all members of a group have in common is published, so it is known of each of them, sensitive or "
            "not: a term that is published as it is was typed by every one."
        ),
        cluster="blocks",
    )
    k = group_size()
    r = Parameter(
        10, whole_number(1, 10**9) | one_of("all"), "how many open clusters are tried for each user", "neither"
    )
    order = Parameter(
        "descending",
        one_of("descending", "ascending", "random"),
        "users by the length of their profile, in which order they are assigned",
        "neither",
    )
    duplicates = Parameter(
        "keep",
        one_of("keep", "drop"),
        "whether a published item may stand several times (drop is Clump2)",
        "neither",
    )
    lcg = Parameter(
        "exact",
        one_of("exact", "buig"),
        "how the common generalization is found: exactly, or as the thesis prints it (buig), which is at times more "
        "general than the least one",
        "neither",
    )

    def claim(self) -> Claim:
        published = "least-common-generalization" if self.lcg == "exact" else "common-generalization"
        return Claim("transactional-k-anonymity", {"k": self.k, "published": published, "duplicates": self.duplicates})

    def anonymize(self, profiles: Profiles, *, seed: int = 0, progress: Progress = silent) -> Anonymized:
        taxonomy = self.knowledge.taxonomy
        transactions = transactions_of(profiles, taxonomy)
        self.need_users(len(transactions), self.k)
        order = self._sorted(transactions.length, seed)
        group, copies = self._cluster(transactions, order, taxonomy, progress)
        if self.duplicates == "drop":
            copies.data[:] = 1
        return publish_generalized(profiles, transactions, group, copies, taxonomy, self.claim())

    def _sorted(self, length: np.ndarray, seed: int) -> np.ndarray:
        """Line 2 of the algorithm; ascending is the exact reverse of descending (section 4.1)."""
        if self.order == "random":
            return np.random.default_rng(seed).permutation(len(length))
        descending = np.argsort(-length, kind="stable")
        return descending if self.order == "descending" else descending[::-1].copy()

    def _cluster(
        self, transactions: Transactions, order: np.ndarray, taxonomy: Taxonomy, progress: Progress
    ) -> tuple[np.ndarray, csr_array]:
        """Lines 3-18: the cluster of each transaction, and the LCG of each cluster."""
        n = len(order) // self.k
        is_seed = np.zeros(len(order), dtype=bool)
        is_seed[: n * self.k : self.k] = True
        seeds, others = order[is_seed], order[~is_seed]
        fill = n * (self.k - 1)
        exact, losses, bench = self.lcg == "exact", losses_of(taxonomy), new_bench(len(taxonomy))
        length, columns = transactions.length, transactions.columns
        group = np.empty(len(order), dtype=np.int64)
        group[seeds] = np.arange(n)
        clusters = open_clusters(seeds, length, columns, losses, exact)

        def place(some: np.ndarray, clusters: Clusters, capacity: int, r: int, stage: str) -> None:
            step = max(1, TRIALS_PER_BLOCK // min(r, n))
            for begin in range(0, len(some), step):
                progress(begin, len(some), stage)
                block = some[begin : begin + step]
                assign(block, length, columns, clusters, losses, exact, capacity, r, bench, group)

        place(others[:fill], clusters, self.k, n if isinstance(self.r, str) else self.r, "clustering")
        place(others[fill:], reopened(clusters), len(order) + 1, n, "placing the last users")
        if exact:
            least_common_generalizations(clusters, taxonomy.parent, bench)
        return group, _copies(clusters, len(taxonomy))


def _copies(clusters: Clusters, nodes: int) -> csr_array:
    """Clusters x nodes: how many copies of each node the LCG of each cluster holds."""
    end = np.concatenate([[0], np.cumsum(clusters.width)])
    place = np.arange(end[-1]) + np.repeat(clusters.start[:-1] - end[:-1], clusters.width)
    content = (clusters.m[place].astype(np.int64), clusters.node[place], end)
    matrix = csr_array(content, shape=(len(clusters.width), nodes))
    matrix.eliminate_zeros()
    return matrix
