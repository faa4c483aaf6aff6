"""Does a method keep back what is sensitive and release the rest? F_beta of what is released (Carpineto & Romano, 4.3).

The authors' colleagues labelled 5,000 queries by hand, and the labels are not public. Here WordNet labels all queries:
sensitive is what names a place, a time, a person, or has to do with religion, sex or health.
"""

import numpy as np

from shoal.anonymizer.base import Release
from shoal.corpus.knowledge import Knowledge
from shoal.corpus.profiles import query_term_counts
from shoal.corpus.querylog import QueryLog

SENSITIVE = (
    "location.n.01", "time_period.n.01", "person.n.01", "religion.n.01", "sexual_activity.n.01", "ill_health.n.01",
    "symptom.n.01",
)  # fmt: skip


def sensitive_queries(log: QueryLog, knowledge: Knowledge) -> np.ndarray:
    """Of each distinct query, whether one of its terms is below a sensitive concept."""
    terms, holds = query_term_counts(log, knowledge.words)
    tree = knowledge.taxonomy
    tops = [tree.node[label] for label in SENSITIVE if label in tree.node]
    places = [tree.node.get(term, -1) for term in terms]
    marked = np.array([any(top <= place < tree.end[top] for top in tops) for place in places], dtype=float)
    return np.asarray(holds @ marked).ravel() > 0 if len(terms) else np.zeros(len(log.queries), dtype=bool)


def f_beta(release: Release, log: QueryLog, sensitive: np.ndarray, beta: float) -> float:
    """Equation 5, over distinct queries: to release is to retrieve, and what is not sensitive is relevant."""
    assert release.queries is not None
    out = set(release.queries.query.to_list())
    released = np.array([query in out for query in log.queries.to_list()], dtype=bool)
    hits = float((released & ~sensitive).sum())
    if hits == 0:
        return 0.0
    precision, recall = hits / released.sum(), hits / (~sensitive).sum()
    return float((beta**2 + 1) * precision * recall / (beta**2 * precision + recall))
