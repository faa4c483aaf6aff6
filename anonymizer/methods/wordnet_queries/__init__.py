"""Which concepts may stand for queries? Single queries generalized under WordNet, k users per concept (WNGEN)."""

import numpy as np
import polars as pl
from scipy.sparse import csr_array

from shoal.anonymizer.base import Anonymized, Claim, LogMethod, MethodInfo
from shoal.anonymizer.distinct_queries import DistinctQueries, distinct_queries, only_columns
from shoal.anonymizer.methods.wordnet_queries.specialization import ROOT, Specializer
from shoal.anonymizer.parameters import AT_LEAST_TWO, Parameter
from shoal.anonymizer.publish import PublicForms, publish_forms
from shoal.corpus.profiles import query_term_counts
from shoal.corpus.progress import Progress, silent
from shoal.corpus.querylog import QueryLog


class WordnetQueries(LogMethod):
    """Carpineto & Romano 2014, section 4.4.1, after He & Naughton 2009, at the level of single queries.

    Guarantee: every published concept stands for queries of at least k users, each with a term at or below it.
    All queries begin at the root. A cluster is split among the children of its concept, a query going to the child
    whose queries gain most in NCP, as long as each part keeps k users. What stays at the root (a query without a
    term that the taxonomy knows, among others) tells nothing: it is not published, and counted as suppressed.
    """

    info = MethodInfo(
        id="wordnet-queries",
        title="Queries generalized to concepts of k users",
        paper="C. Carpineto, G. Romano: K-theta-affinity privacy: releasing infrequent query refinements safely. "
        "Information Processing and Management, 2014 (its WNGEN; after Y. He, J. Naughton, 2009)",
        unit="query",
        family="generalize",
        protects="What exactly was typed: a query is published as a concept that fits queries of at least k users.",
        does_not_protect="Combinations of the concepts under one pseudonym (of 20,000 simulated users at k=5, 99 of "
        "100 have a set of concepts that nobody else has); a concept that is sensitive itself, or a rare word that k "
        "users typed, which is published as it is; and whatever k - 1 users planted by an adversary typed as well.",
        cluster="blocks",
    )
    k = Parameter(5, AT_LEAST_TWO, "the fewest users with a query of a published concept", "higher")

    def claim(self) -> Claim:
        return Claim("concept-k-anonymity", {"k": self.k})

    def anonymize(self, log: QueryLog, *, seed: int = 0, progress: Progress = silent) -> Anonymized:
        self.need_users(len(log.users), self.k)
        progress(0, 1, "reading queries")
        queries = distinct_queries(log)
        query, leaf = self._leaves(log, queries)
        specializer = Specializer(self.knowledge.taxonomy, queries.askers, queries.occurrences, self.k)
        concept = specializer.concepts(query, leaf, progress)
        forms, released = self._generalized(queries, concept)
        return publish_forms(log, released, forms, self.claim())

    def _leaves(self, log: QueryLog, queries: DistinctQueries) -> tuple[np.ndarray, np.ndarray]:
        """Pairs of (query, leaf of the taxonomy that is a term of it), sorted by both."""
        terms, counts = query_term_counts(log, self.knowledge.words)
        found = (self.knowledge.taxonomy.leaf(term) for term in terms)
        leaf_of = np.array([-1 if leaf is None else leaf for leaf in found], dtype=np.int64)
        held = csr_array(counts[queries.source])
        query = np.repeat(np.arange(len(queries)), np.diff(held.indptr))
        leaf = leaf_of[held.indices] if len(terms) else np.empty(0, dtype=np.int64)
        order = np.lexsort((leaf, query))
        order = order[leaf[order] >= 0]
        return query[order], leaf[order]

    def _generalized(self, queries: DistinctQueries, concept: np.ndarray) -> tuple[PublicForms, csr_array]:
        """The concepts as public forms, and how often each user has each."""
        taxonomy = self.knowledge.taxonomy
        nodes, number = np.unique(concept, return_inverse=True)
        asked = only_columns(queries.asked, concept != ROOT)
        per_concept = csr_array((asked.data, number[asked.indices], asked.indptr), shape=(asked.shape[0], len(nodes)))
        per_concept.sum_duplicates()
        degree = np.bincount(per_concept.indices, minlength=len(nodes))
        leaf = taxonomy.is_leaf[nodes]
        names = [taxonomy.labels[v].lower() if leaf[i] else taxonomy.labels[v] for i, v in enumerate(nodes)]
        return PublicForms(pl.Series(names, dtype=pl.String), degree, _identity(len(nodes)), names, ~leaf), per_concept


def _identity(size: int) -> csr_array:
    """A concept's profile is the concept."""
    return csr_array((np.ones(size), np.arange(size), np.arange(size + 1)), shape=(size, size))
