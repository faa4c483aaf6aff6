"""Do generalized queries hold? Every published concept is shared by k users, each with a query below it."""

from collections import Counter

import polars as pl

from shoal.anonymizer.base import QUERIES, Claim
from shoal.anonymizer.claims import HOLDS, Evidence, Verdict, Verifier, broken
from shoal.anonymizer.claims.queries import (
    asked_rows,
    released_rows,
    same_profile,
    verify_counted,
    verify_degrees,
    verify_released_by_one,
)
from shoal.anonymizer.parameters import AT_LEAST_TWO
from shoal.corpus.tokens import tokenize


def verify_concept_k_anonymity(claim: Claim, evidence: Evidence) -> Verdict:
    """Every published concept is below the root, and k users have it, each with a query that has a term below it."""
    single = verify_released_by_one(evidence)
    if not single.holds:
        return single
    rows = released_rows(evidence)
    for verdict in (
        _verify_labels(evidence, rows),
        verify_degrees(int(claim.values["k"]), rows),
        _verify_asked(evidence, rows),
        verify_counted(evidence),
    ):
        if not verdict.holds:
            return verdict
    return _verify_profiles(evidence, rows)


def _verify_labels(evidence: Evidence, rows: pl.DataFrame) -> Verdict:
    """A published string is a concept of the taxonomy, and flagged as generalized unless it is a leaf."""
    taxonomy = evidence.knowledge.taxonomy
    flagged = dict(zip(evidence.release.labels, evidence.release.generalized.tolist(), strict=True))
    for label in rows["query"].unique().sort().to_list():
        node = taxonomy.node.get(label.lower())
        if node is None:
            return broken(f"{label!r} is published, but is no concept of the taxonomy")
        if node == 0:
            return broken(f"{label!r} is published, but the root tells nothing and is not published")
        if label in flagged and flagged[label] == bool(taxonomy.is_leaf[node]):
            return broken(f"{label!r} is {'' if flagged[label] else 'not '}marked as generalized, which is wrong")
    return HOLDS


def _verify_asked(evidence: Evidence, rows: pl.DataFrame) -> Verdict:
    """No user has a concept more often than they typed queries with a term at or below it."""
    published = {
        (user, label.lower()): count for user, label, count in rows.select("user", "query", "count").iter_rows()
    }
    above = _ConceptsAbove(evidence)
    supply: Counter[tuple[str, str]] = Counter()
    total: Counter[str] = Counter()
    for user, query, times in asked_rows(evidence).select("user", "query", "times").iter_rows():
        total[user] += times if above(query) else 0
        for label in above(query):
            if (user, label) in published:
                supply[user, label] += times
    for (user, label), count in published.items():
        if count > supply[user, label]:
            asked = supply[user, label]
            return broken(f"a user has {label!r} {count} times, but typed {asked} queries with a term below it")
    for user, count in rows.group_by("user", maintain_order=True).agg(pl.col("count").sum()).iter_rows():
        if count > total[user]:
            return broken(f"a user has {count} concepts, but typed {total[user]} queries with a term of the taxonomy")
    return HOLDS


class _ConceptsAbove:
    """The labels, lower-cased, of all concepts at or above a term of a query; the root is not among them."""

    def __init__(self, evidence: Evidence) -> None:
        self._knowledge = evidence.knowledge
        self._known: dict[str, frozenset[str]] = {}

    def __call__(self, query: str) -> frozenset[str]:
        if query not in self._known:
            terms = (self._knowledge.words(token) for token in tokenize(query))
            self._known[query] = frozenset(label for term in terms if term for label in self._path(term))
        return self._known[query]

    def _path(self, term: str) -> list[str]:
        taxonomy = self._knowledge.taxonomy
        leaf = taxonomy.leaf(term)
        return [] if leaf is None else [taxonomy.labels[v].lower() for v in taxonomy.path(leaf)[:-1]]


def _verify_profiles(evidence: Evidence, rows: pl.DataFrame) -> Verdict:
    """The profile of a pseudonym holds its concepts, as often as they are published."""
    for (row,), part in rows.group_by("pseudonym", maintain_order=True):
        concepts = Counter(dict(part.select("query", "count").iter_rows()))
        verdict = same_profile(evidence, int(str(row)), concepts)
        if not verdict.holds:
            return verdict
    return HOLDS


VERIFIERS = (
    Verifier(
        "concept-k-anonymity",
        "query",
        verify_concept_k_anonymity,
        lambda values: f"Every published concept stands for queries of at least {values['k']} users.",
        {"k": AT_LEAST_TWO},
        files=(QUERIES,),
    ),
)
