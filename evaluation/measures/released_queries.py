"""How much of the log came out, and does it give people away? What only releases of queries have.

Does a method keep back what is sensitive and release the rest? F_beta of what is released (Carpineto & Romano, 4.3).

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
from shoal.evaluation.attacks.linkage import RareTermShare, query_linkage, rare_term_share
from shoal.evaluation.measures.base import ReleaseMeasure
from shoal.evaluation.measures.linkage import CHOSEN
from shoal.evaluation.measures.release import MeasuredRelease


def released_occurrences(release: Release, log: QueryLog) -> float:
    """Of the events of the log, those published in some form."""
    return float(release.queries.count.sum()) / max(1, len(log)) if release.queries is not None else 0.0


def released_distinct(release: Release, log: QueryLog) -> float:
    """Of the distinct queries of the log, in lower case and with single blanks, those published as they are."""
    asked = distinct_queries(log)
    if release.queries is None or len(asked) == 0:
        return 0.0
    return float(asked.texts.is_in(release.queries.query.unique().implode()).sum()) / len(asked)


def _occurrences(measured: MeasuredRelease) -> float | None:
    return None if measured.release.queries is None else released_occurrences(measured.release, measured.log)


def published_as_typed(measured: MeasuredRelease) -> bool:
    """Concepts in the place of queries are no words that an attacker could know."""
    return measured.release.queries is not None and not measured.release.generalized.any()


def _distinct(measured: MeasuredRelease) -> float | None:
    return released_distinct(measured.release, measured.log) if published_as_typed(measured) else None


def _linkage(measured: MeasuredRelease, m: int) -> float | None:
    if not published_as_typed(measured):
        return None
    return query_linkage(measured.release, measured.assignment, measured.log, measured.most_victims, m, measured.seed)


def _shares(measured: MeasuredRelease) -> RareTermShare | None:
    k = measured.claim.values.get("k") if measured.claim is not None else None
    return (
        rare_term_share(measured.release, measured.log, k)
        if isinstance(k, int) and published_as_typed(measured)
        else None
    )


def _rare(measured: MeasuredRelease) -> float | None:
    shares = measured.once(_shares)
    return None if shares is None else shares.events


def _rare_distinct(measured: MeasuredRelease) -> float | None:
    shares = measured.once(_shares)
    return None if shares is None else shares.distinct


distinct_queries_released = ReleaseMeasure(
    name="released_distinct",
    title="Distinct queries released",
    says="The share of the log's distinct queries that are published as they are.",
    formula="distinct queries published / distinct queries of the log, in lower case with single blanks",
    heading="utility",
    better="higher",
    low=0,
    high=1,
    unit="share",
    paper="Carpineto & Romano 2014, Figure 5",
    compute=_distinct,
)
events_released = ReleaseMeasure(
    name="released_occurrences",
    title="Queries released",
    says="The share of the log's events that are published in some form.",
    formula="query events published / events of the log",
    heading="utility",
    better="higher",
    low=0,
    high=1,
    unit="share",
    paper="Carpineto & Romano 2014, Figure 5",
    compute=_occurrences,
)
found_by_words = ReleaseMeasure(
    name="query_linkage",
    title="Found by {m} words",
    says="The share of people whom an attacker finds who knows {m} words of their queries and reads all released ones.",
    formula="as linkage@{m}, with all words of the queries in the place of the terms of profiles",
    heading="linkability",
    better="lower",
    low=0,
    high=1,
    unit="share",
    at=(CHOSEN,),
    compute=_linkage,
)
rare_words = ReleaseMeasure(
    name="rare_term_share",
    title="Queries with rare words",
    says="The share of released queries that hold a word typed by fewer than k users.",
    formula="released query events with a word of fewer than k users / released query events; k is the release's",
    heading="singling out",
    better="lower",
    low=0,
    high=1,
    unit="share",
    compute=_rare,
)
rare_words_distinct = ReleaseMeasure(
    name="rare_term_share_distinct",
    title="Distinct queries with rare words",
    says="The share of the distinct released queries that hold a word typed by fewer than k users.",
    formula="distinct released queries with a word of fewer than k users / distinct released queries",
    heading="singling out",
    better="lower",
    low=0,
    high=1,
    unit="share",
    compute=_rare_distinct,
)


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
