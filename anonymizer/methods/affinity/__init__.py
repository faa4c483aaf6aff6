"""Which queries are safe because enough users typed something close? K-theta-affinity privacy."""

import numpy as np

from shoal.anonymizer.base import Anonymized, Claim, LogMethod, MethodInfo
from shoal.anonymizer.distinct_queries import DistinctQueries, distinct_queries
from shoal.anonymizer.methods.affinity.classes import affinity_classes
from shoal.anonymizer.methods.affinity.concepts import mine_concepts
from shoal.anonymizer.methods.affinity.grown_graphs import cores_of_grown_graphs
from shoal.anonymizer.methods.affinity.kcores import generalized_cores
from shoal.anonymizer.methods.affinity.pairs import affinity_graph
from shoal.anonymizer.parameters import AT_LEAST_TWO, Parameter, number, one_of, whole_number
from shoal.anonymizer.publish_queries import publish_unchanged
from shoal.corpus.progress import Progress, silent
from shoal.corpus.querylog import QueryLog

USERS_PER_SUPPORT = 10_000  # section 3.1: a concept has the support of one ten-thousandth of the users


class Affinity(LogMethod):
    """Carpineto & Romano 2014, sections 3.1 to 3.4.

    Guarantee: for every released query of degree d >= k, at least d users typed it or a released theta-affine one.
    A query without any concept is released only if d >= k users typed that very string. Strings are compared in
    lower case and with single blanks; the web's www, http and com count among the function words.
    """

    info = MethodInfo(
        id="affinity",
        title="Queries that k users typed, or close ones",
        paper="C. Carpineto, G. Romano: K-theta-affinity privacy: releasing infrequent query refinements safely. "
        "Information Processing and Management, 2015",
        unit="query",
        protects="Who typed a released query: at least k users typed it or a query close to it.",
        does_not_protect="Combinations of one user's released queries, a rare word that two users share, and a log "
        "into which an attacker planted queries.",
    )
    k = Parameter(5, AT_LEAST_TWO, "the fewest users who typed a query or a close one", "higher")
    theta = Parameter(0.9, number(0.1, 1), "how close is close: the smallest cosine", "higher")
    support = Parameter(
        "auto",
        whole_number(2) | one_of("auto"),
        "users who must type a phrase before it counts as a concept",
        "neither",
    )
    exact = Parameter("yes", one_of("yes", "no"), "no: graphs of v_max queries at most, which release less", "neither")
    v_max = Parameter(2000, whole_number(1, 10**6), "with exact=no, the most queries of a graph", "lower")

    def claim(self) -> Claim:
        return Claim("affinity-k-anonymity", {"k": self.k, "theta": self.theta, "support": self.support})

    def anonymize(self, log: QueryLog, *, seed: int = 0, progress: Progress = silent) -> Anonymized:
        self.need_users(len(log.users), self.k)
        progress(0, 1, "reading queries")
        queries = distinct_queries(log)
        progress(1, 1, "reading queries")
        degree = self.degrees(queries, progress)
        progress(0, 1, "publishing")
        made = publish_unchanged(log, queries, degree, self.k, self.claim(), self.knowledge)
        progress(1, 1, "publishing")
        return made

    def degrees(self, queries: DistinctQueries, progress: Progress = silent) -> np.ndarray:
        """The anonymity degree of every distinct query; 0 for one that must not be released at any k."""
        users = queries.asked.shape[0]
        concepts = mine_concepts(queries, self._support(queries), progress)
        progress(0, 1, "grouping queries by their concepts")
        classes = affinity_classes(queries, concepts)
        progress(1, 1, "grouping queries by their concepts")
        if self.exact == "yes":
            graph = affinity_graph(classes, self.theta, progress)
            core = generalized_cores(graph, classes.user_start, classes.user, users, progress)
        else:
            core = cores_of_grown_graphs(classes, self.theta, self.v_max, users, progress)
        takes_part = classes.of_query >= 0
        degree = np.where(concepts.expanded, 0, queries.users)
        degree[takes_part] = core[classes.of_query[takes_part]]
        return degree

    def _support(self, queries: DistinctQueries) -> int:
        users = int((np.diff(queries.asked.indptr) > 0).sum())
        return max(2, users // USERS_PER_SUPPORT) if self.support == "auto" else int(self.support)
