"""Which queries are safe because enough users typed something close? K-theta-affinity privacy."""

import numpy as np

from shoal.anonymizer.base import Anonymized, Claim, LogMethod, MethodInfo
from shoal.anonymizer.distinct_queries import DistinctQueries, distinct_queries
from shoal.anonymizer.methods.affinity.concepts import affinity_classes, mine_concepts
from shoal.anonymizer.methods.affinity.grown_graphs import degrees_in_grown_graphs
from shoal.anonymizer.methods.affinity.pairs import affinity_graph, generalized_cores
from shoal.anonymizer.parameters import AT_LEAST_TWO, Parameter, number, one_of, whole_number
from shoal.anonymizer.publish import publish_unchanged
from shoal.corpus.progress import Progress, silent
from shoal.corpus.querylog import QueryLog


class Affinity(LogMethod):
    """Carpineto & Romano 2014, sections 3.1 to 3.4.

    Guarantee: for every released query of degree d >= k, d users in all typed it or a theta-affine one; with exact=yes
    these queries are released too. A query without any concept is released only if d >= k users typed that very
    string. Strings are compared in lower case and with single blanks; the web's www, http and com count among the
    function words.
    """

    info = MethodInfo(
        id="affinity",
        title="Queries that k users typed, or close ones",
        paper="C. Carpineto, G. Romano: K-theta-affinity privacy: releasing infrequent query refinements safely. "
        "Information Processing and Management, 2014",
        unit="query",
        family="suppress",
        protects="Who searched for what a released query is about: k users in all typed it or a query affine to it.",
        does_not_protect="A released query that one user alone typed, as 7 in 10 distinct released ones of simulated "
        "logs are at k=5 and theta=0.9: it shows all that is released of that user to whoever saw it typed; what a "
        "user's released queries tell together; a rare word that word_users users share; and a log in which an "
        "attacker planted users: two of them bring out what they type beside a frequent query, such as a card number, "
        "at any k.",
        cluster="which queries are close, and how many users typed those, is found over the whole log",
    )
    k = Parameter(5, AT_LEAST_TWO, "the fewest users who typed a query or a close one", "higher")
    theta = Parameter(0.9, number(0.1, 1), "how close is close: the smallest cosine", "higher")
    support = Parameter(
        "auto",
        whole_number(2) | one_of("auto"),
        "users who must type a phrase before it counts as a concept; a larger one sees fewer differences between "
        "queries and releases more (auto: the smallest whose concepts are at most 73 % of the words, as in the paper)",
        "lower",
    )
    word_users = Parameter(
        2, AT_LEAST_TWO, "users who must type every word, from blank to blank, of a query with a concept", "higher"
    )
    exact = Parameter(
        "yes", one_of("yes", "no"), "no: degrees in a graph of v_max queries around each, which are lower", "neither"
    )
    v_max = Parameter(2000, whole_number(1, 10**6), "with exact=no, the most queries of a graph", "lower")

    def claim(self) -> Claim:
        names = ("k", "theta", "support", "word_users", "exact")
        return Claim("affinity-k-anonymity", {name: self.settings[name] for name in names})

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
        concepts = mine_concepts(queries, self.support, self.word_users, progress)
        progress(0, 1, "grouping queries by their concepts")
        classes = affinity_classes(queries, concepts)
        progress(1, 1, "grouping queries by their concepts")
        graph = affinity_graph(classes, self.theta, progress)
        core = generalized_cores(graph, classes.user_start, classes.user, queries.asked.shape[0], progress)
        takes_part = classes.of_query >= 0
        degree = np.where(concepts.expanded, 0, queries.users)
        if self.exact == "yes":
            degree[takes_part] = core[classes.of_query[takes_part]]
        else:
            degree[takes_part] = degrees_in_grown_graphs(queries, classes, graph, core, self.v_max, progress)
        return degree
