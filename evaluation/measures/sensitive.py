"""Does a method keep back what is sensitive and release the rest? F_beta of what is released (Carpineto & Romano, 4.3).

The authors' colleagues labelled 5,000 queries by hand, and the labels are not public. Here WordNet labels all queries:
sensitive is what names a place, a time, a person, or has to do with religion, sex or health.
"""

from collections.abc import Callable

import numpy as np

from shoal.anonymizer.base import Release
from shoal.anonymizer.distinct_queries import DistinctQueries, distinct_queries
from shoal.corpus.knowledge import Knowledge
from shoal.corpus.profiles import query_term_counts
from shoal.corpus.querylog import QueryLog
from shoal.evaluation.measures.base import ReleaseMeasure
from shoal.evaluation.measures.release import MeasuredRelease

SENSITIVE = (
    "location.n.01", "time_period.n.01", "person.n.01", "religion.n.01", "sexual_activity.n.01", "ill_health.n.01",
    "symptom.n.01",
)  # fmt: skip


def sensitive_queries(log: QueryLog, queries: DistinctQueries, knowledge: Knowledge) -> np.ndarray:
    """Of each distinct query, whether one of its terms is below a sensitive concept."""
    terms, holds = query_term_counts(log, knowledge.words)
    tree = knowledge.taxonomy
    tops = [tree.node[label] for label in SENSITIVE if label in tree.node]
    places = [tree.node.get(term, -1) for term in terms]
    marked = np.array([any(top <= place < tree.end[top] for top in tops) for place in places], dtype=float)
    found = np.asarray(holds @ marked).ravel() > 0 if len(terms) else np.zeros(len(log.queries), dtype=bool)
    return found[queries.source]


def f_beta(release: Release, queries: DistinctQueries, sensitive: np.ndarray, beta: float) -> float:
    """Equation 5, over distinct queries: to release is to retrieve, and what is not sensitive is relevant."""
    assert release.queries is not None
    released = queries.texts.is_in(release.queries.query.unique().implode()).to_numpy()
    hits = float((released & ~sensitive).sum())
    if hits == 0:
        return 0.0
    precision, recall = hits / released.sum(), hits / (~sensitive).sum()
    return float((beta**2 + 1) * precision * recall / (beta**2 * precision + recall))


def _labelled(measured: MeasuredRelease) -> tuple[DistinctQueries, np.ndarray] | None:
    """Only where WordNet can tell, and where queries are released as they were typed."""
    known = measured.knowledge.taxonomy.is_wordnet
    if measured.release.queries is None or measured.release.generalized.any() or not known:
        return None
    queries = distinct_queries(measured.log)
    return queries, sensitive_queries(measured.log, queries, measured.knowledge)


def _f(beta: float) -> Callable[[MeasuredRelease], float | None]:
    def compute(measured: MeasuredRelease) -> float | None:
        labelled = measured.once(_labelled)
        return None if labelled is None else f_beta(measured.release, *labelled, beta)

    return compute


def _measure(name: str, beta: float) -> ReleaseMeasure:
    return ReleaseMeasure(
        name=name,
        title=f"Harmless released, beta={beta:g}",
        says="Whether what is released is harmless, and what is harmless is released; 1 is both.",
        formula=f"F with beta={beta:g} of precision (harmless among the released) and recall (released among the "
        "harmless) over distinct queries; WordNet tells which name a place, a time, a person, or are of religion, "
        "sex or health",
        heading="utility",
        better="higher",
        low=0,
        high=1,
        paper="Carpineto & Romano 2014, Eq. 5",
        compute=_f(beta),
    )


evenly = _measure("f_beta1", 1)
by_precision = _measure("f_beta01", 0.1)
