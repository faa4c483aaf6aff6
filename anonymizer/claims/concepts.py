"""Do generalized queries hold? Every published concept is shared by k users, each with own queries below it."""

from dataclasses import dataclass

import numpy as np
import polars as pl
from numba import njit
from scipy.sparse import csr_array

from shoal.anonymizer.base import QUERIES, Claim, ReleasedQueries
from shoal.anonymizer.claims import HOLDS, Evidence, Values, Verdict, Verifier, broken
from shoal.anonymizer.claims.groups import verify_weights
from shoal.anonymizer.claims.queries import (
    TypedQueries,
    typed_queries,
    verify_counted,
    verify_degrees,
    verify_released_by_one,
)
from shoal.anonymizer.claims.transport import FEASIBLE, Transport
from shoal.anonymizer.parameters import AT_LEAST_TWO
from shoal.corpus.columns import distinct
from shoal.corpus.knowledge.taxonomy import Taxonomy
from shoal.corpus.profiles import query_term_counts

ROOT = 0
_USERS_AT_ONCE = 50_000  # so that all their queries below all their concepts are not too many


def verify_concept_k_anonymity(claim: Claim, evidence: Evidence) -> Verdict:
    """What the sentence says, and that profiles and counts are those of the published concepts."""
    single = verify_released_by_one(evidence)
    rows = evidence.release.queries
    if not single.holds or rows is None:
        return single
    for verdict in (
        _verify_labels(evidence, rows),
        verify_degrees(int(claim.values["k"]), rows),
        verify_counted(evidence),
        _verify_profiles(evidence, rows),
    ):
        if not verdict.holds:
            return verdict
    return _verify_typed(evidence, rows)


def _verify_labels(evidence: Evidence, rows: ReleasedQueries) -> Verdict:
    """A published string is a concept of the taxonomy as that spells it, and is generalized unless it is a leaf."""
    taxonomy = evidence.knowledge.taxonomy
    flagged = dict(zip(evidence.release.labels, evidence.release.generalized.tolist(), strict=True))
    for label in _concepts(rows)[0]:
        node = taxonomy.node.get(label.lower())
        if node is None or label != _written(node, taxonomy):
            return broken(f"{label!r} is published, but is no concept of the taxonomy")
        if node == ROOT:
            return broken(f"{label!r} is published, but the root tells nothing and is not published")
        if label in flagged and flagged[label] == bool(taxonomy.is_leaf[node]):
            return broken(f"{label!r} is {'' if flagged[label] else 'not '}marked as generalized, which is wrong")
    return HOLDS


def _written(node: int, taxonomy: Taxonomy) -> str:
    """A leaf is a term, and terms are in lower case."""
    return taxonomy.labels[node].lower() if taxonomy.is_leaf[node] else taxonomy.labels[node]


def _verify_profiles(evidence: Evidence, rows: ReleasedQueries) -> Verdict:
    """The profile of a pseudonym holds its concepts, as often as they are published."""
    concepts, number = _concepts(rows)
    shape = (len(evidence.release), len(concepts))
    expected = csr_array((rows.count.astype(float), (rows.pseudonym, number)), shape=shape)
    return verify_weights(evidence.release, expected, concepts, "its concepts")


def _concepts(rows: ReleasedQueries) -> tuple[list[str], np.ndarray]:
    """The distinct published strings, and which of them each row has."""
    labels = rows.query.unique().sort()
    number = rows.query.replace_strict(labels, np.arange(len(labels)), return_dtype=pl.Int64)
    return labels.to_list(), number.to_numpy().astype(np.int64)


@dataclass(frozen=True, eq=False)
class _Walk:
    """What is walked over to find which query of a user can stand for which concept of theirs."""

    text_start: np.ndarray
    text: np.ndarray
    leaf_start: np.ndarray
    leaf: np.ndarray
    parent: np.ndarray
    row_start: np.ndarray  # of the published rows of each user
    rows: np.ndarray
    node: np.ndarray  # of each row
    user: np.ndarray  # of each row

    def ways(self, some: slice) -> tuple[np.ndarray, np.ndarray]:
        """For some users, which query may stand for which concept: entries of typed.times, and published rows."""
        bounds = slice(some.start, some.stop + 1)
        given = (
            self.text_start[bounds], self.text, self.leaf_start, self.leaf, self.parent,
            self.row_start[bounds], self.rows, self.node,
        )  # fmt: skip
        none = np.empty(0, dtype=np.int64)
        edges = _write_ways(*given, none, none)
        pair, row = np.empty(edges, dtype=np.int64), np.empty(edges, dtype=np.int64)
        _write_ways(*given, pair, row)
        return pair, row


def _verify_typed(evidence: Evidence, rows: ReleasedQueries) -> Verdict:
    """For each time that a user has a concept they typed a query below it, and no query counts for two."""
    typed = typed_queries(evidence.log)
    user = evidence.owner[rows.pseudonym]
    walk = _walk(evidence, rows, user, typed)
    for first in range(0, typed.times.shape[0], _USERS_AT_ONCE):
        part = _impossible_user(walk, slice(first, first + _USERS_AT_ONCE), rows.count, typed.times)
        if part != FEASIBLE:
            name = evidence.release.pseudonyms[int(rows.pseudonym[(user == part).argmax()])]
            own = ", ".join(f"{rows.query[int(i)]} {rows.count[i]}" for i in np.flatnonzero(user == part)[:5])
            return broken(
                f"{name} has the concepts {own}, but its user did not type as many queries below each of them"
            )
    return HOLDS


def _impossible_user(walk: _Walk, some: slice, count: np.ndarray, times: csr_array) -> int:
    """One of some users who did not type what their concepts need, or FEASIBLE. No query of one counts for another."""
    pair, row = walk.ways(some)
    pairs = distinct(pair)
    takers = np.sort(walk.rows[slice(*walk.row_start[some.start : some.stop + 1][[0, -1]])])
    part = Transport(
        giver_part=np.searchsorted(times.indptr, pairs, side="right") - 1 - some.start,
        least=np.zeros(len(pairs), dtype=np.int64),
        most=times.data[pairs],
        taker_part=walk.user[takers] - some.start,
        needs=count[takers],
        giver=np.searchsorted(pairs, pair),
        taker=np.searchsorted(takers, row),
        low=np.zeros(len(pair), dtype=np.int64),
        high=times.data[pair],
    ).impossible_part()
    return part if part == FEASIBLE else part + some.start


def _walk(evidence: Evidence, rows: ReleasedQueries, user: np.ndarray, typed: TypedQueries) -> _Walk:
    taxonomy = evidence.knowledge.taxonomy
    concepts, number = _concepts(rows)
    node = np.array([taxonomy.node[label.lower()] for label in concepts], dtype=np.int64)[number]
    terms, counts = query_term_counts(evidence.log, evidence.knowledge.words)
    leaves = (taxonomy.leaf(term) for term in terms)
    leaf = np.array([ROOT if found is None else found for found in leaves], dtype=np.int64)
    held = csr_array(counts[typed.source])
    order = np.argsort(user, kind="stable")
    start = np.searchsorted(user[order], np.arange(typed.times.shape[0] + 1))
    return _Walk(
        typed.times.indptr, typed.times.indices, held.indptr, leaf[held.indices], taxonomy.parent,
        start, order, node, user,
    )  # fmt: skip


@njit(cache=True)
def _write_ways(
    text_start: np.ndarray,
    text: np.ndarray,
    leaf_start: np.ndarray,
    leaf: np.ndarray,
    parent: np.ndarray,
    row_start: np.ndarray,
    rows: np.ndarray,
    node: np.ndarray,
    pair: np.ndarray,
    row: np.ndarray,
) -> int:
    """Walk from each term of each query up to the root; write what is found if there is room, and count it."""
    here = np.full(len(parent), -1, dtype=np.int64)  # the row of the user with each concept
    last = np.full(len(node), -1, dtype=np.int64)  # the last query that was found below each row's concept
    edges = 0
    for user in range(len(row_start) - 1):
        own = rows[row_start[user] : row_start[user + 1]]
        here[node[own]] = own
        for p in range(text_start[user], text_start[user + 1]):
            for v in leaf[leaf_start[text[p]] : leaf_start[text[p] + 1]]:
                while v > 0:
                    found = here[v]
                    if found >= 0 and last[found] != p:
                        last[found] = p
                        if edges < len(pair):
                            pair[edges], row[edges] = p, found
                        edges += 1
                    v = parent[v]
        here[node[own]] = -1
    return edges


def _sentence(values: Values) -> str:
    return (
        f"Every published concept is shared by at least {values['k']} users, each of whom typed, for every time that "
        "it is published, a query with a term at or below it that counts for no other concept of theirs; whether a "
        "query of several users became one concept for all of them is not checked."
    )


VERIFIERS = (
    Verifier(
        "concept-k-anonymity",
        "query",
        verify_concept_k_anonymity,
        _sentence,
        {"k": AT_LEAST_TWO},
        files=(QUERIES,),
    ),
)
