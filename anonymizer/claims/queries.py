"""Do released queries hold? What users typed, what every query method must keep, and that k users typed each."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import polars as pl
from scipy.sparse import csr_array

from shoal.anonymizer.base import QUERIES, Claim, ReleasedQueries
from shoal.anonymizer.claims import HOLDS, Evidence, Verdict, Verifier, broken
from shoal.anonymizer.claims.groups import verify_left_out, verify_nothing_generalized, verify_weights
from shoal.anonymizer.parameters import AT_LEAST_TWO
from shoal.corpus.profiles import query_term_counts
from shoal.corpus.querylog import QueryLog

_QUERIES_AT_ONCE = 1_000_000


@dataclass(frozen=True, eq=False)
class TypedQueries:
    """The distinct queries of a log in lower case and with single blanks, and how often each user typed each."""

    texts: pl.Series
    source: np.ndarray  # a query of the log that reads so
    times: csr_array  # users of the log x texts

    @cached_property
    def users(self) -> np.ndarray:
        """How many users typed each text; the empty string is no query."""
        users = np.bincount(self.times.indices, minlength=len(self.texts))
        return np.where((self.texts == "").to_numpy(), 0, users)

    def numbers(self, queries: pl.Series) -> np.ndarray:
        """The place of each string among the texts, -1 where nobody typed it."""
        places = np.arange(len(self.texts), dtype=np.int64)
        found = queries.replace_strict(self.texts, places, default=-1, return_dtype=pl.Int64)
        return found.to_numpy().astype(np.int64)


def typed_queries(log: QueryLog) -> TypedQueries:
    number: dict[str, int] = {}
    of_query = np.empty(len(log.queries), dtype=np.int32)
    for first in range(0, len(of_query), _QUERIES_AT_ONCE):  # each is a Python string for as long
        for q, query in enumerate(log.queries.slice(first, _QUERIES_AT_ONCE).to_list(), first):
            of_query[q] = number.setdefault(" ".join(query.lower().split()), len(number))
    source = np.empty(len(number), dtype=np.int64)
    source[of_query] = np.arange(len(of_query))
    shape = (len(log.users), len(number))
    times = csr_array((np.ones(len(log), dtype=np.int64), of_query[log.query], log.start.copy()), shape=shape)
    times.sum_duplicates()
    return TypedQueries(pl.Series(list(number), dtype=pl.String), source, times)


def verify_query_k_anonymity(claim: Claim, evidence: Evidence) -> Verdict:
    """What k users typed is released, as this very string, of all of them, and nothing else."""
    typed = typed_queries(evidence.log)
    verdict = verify_released(evidence, typed)
    if verdict.holds:
        k, published = int(claim.values["k"]), published_degrees(evidence, typed)
        verdict = verify_exact_degrees(k, typed, published, typed.users)
    return verify_profiles(evidence, typed) if verdict.holds else verdict


def published_degrees(evidence: Evidence, typed: TypedQueries) -> np.ndarray:
    """The published degree of each text, 0 for one that is not published."""
    rows = evidence.release.queries
    assert rows is not None
    degree = np.zeros(len(typed.texts), dtype=np.int64)
    degree[typed.numbers(rows.query)] = rows.degree
    return degree


def verify_released(evidence: Evidence, typed: TypedQueries) -> Verdict:
    """A released query is released of all who typed it, as often as they did, with one degree; the rest is counted."""
    verdict = verify_released_by_one(evidence)
    for check in (verify_typed, verify_one_degree):
        if verdict.holds:
            verdict = check(evidence, typed)
    return verify_counted(evidence) if verdict.holds else verdict


def verify_released_by_one(evidence: Evidence) -> Verdict:
    """Queries are there, every pseudonym is one user's, has something released, and lists no query twice."""
    release = evidence.release
    if release.queries is None:
        return broken("no queries are published, but the claim is about queries")
    shared = np.flatnonzero(release.users != 1)
    if len(shared):
        row = int(shared[0])
        return broken(f"{release.pseudonyms[row]} is shared by {release.users[row]} users, expected one")
    idle = np.flatnonzero(np.bincount(release.queries.pseudonym, minlength=len(release)) == 0)
    if len(idle):
        return broken(f"{release.pseudonyms[int(idle[0])]} has a profile, but no released query")
    never = np.flatnonzero(release.queries.count < 1)
    if len(never):
        query, count = release.queries.query[int(never[0])], release.queries.count[never[0]]
        return broken(f"{query!r} is released {count} times")
    rows = pl.DataFrame({"pseudonym": release.queries.pseudonym, "query": release.queries.query})
    twice = rows.filter(rows.is_duplicated())
    if len(twice):
        return broken(f"{release.pseudonyms[twice['pseudonym'][0]]} lists {twice['query'][0]!r} twice")
    return HOLDS


def verify_typed(evidence: Evidence, typed: TypedQueries) -> Verdict:
    rows = evidence.release.queries
    assert rows is not None
    text = typed.numbers(rows.query)
    unknown = np.flatnonzero((text < 0) | (rows.query == "").to_numpy())
    if len(unknown):
        return broken(f"{rows.query[int(unknown[0])]!r} is released, but nobody typed that")
    released = csr_array((rows.count, (evidence.owner[rows.pseudonym], text)), shape=typed.times.shape)
    differ = (_only_columns(typed.times, np.unique(text)) - released).tocoo()
    if not differ.nnz:
        return HOLDS
    user, number = int(differ.row[0]), int(differ.col[0])
    times, said = typed.times[user, number], released[user, number]
    return broken(f"a user typed {typed.texts[number]!r} {times} times, but it is released {said} times of that user")


def _only_columns(counts: csr_array, columns: np.ndarray) -> csr_array:
    keep = np.zeros(counts.shape[1], dtype=bool)
    keep[columns] = True
    entries = counts.tocoo()
    kept = keep[entries.col]
    return csr_array((entries.data[kept], (entries.row[kept], entries.col[kept])), shape=counts.shape)


def verify_one_degree(evidence: Evidence, typed: TypedQueries) -> Verdict:
    rows = evidence.release.queries
    assert rows is not None
    low = np.flatnonzero(rows.degree < 1)
    if len(low):
        return broken(f"{rows.query[int(low[0])]!r} is released with degree {rows.degree[low[0]]}")
    varied = np.flatnonzero(rows.degree != published_degrees(evidence, typed)[typed.numbers(rows.query)])
    if len(varied):
        return broken(f"{rows.query[int(varied[0])]!r} is released with different degrees")
    return HOLDS


def verify_counted(evidence: Evidence) -> Verdict:
    """What is not released is counted as suppressed."""
    rows = evidence.release.queries
    missing = len(evidence.log) - (0 if rows is None else int(rows.count.sum()))
    return verify_left_out(missing, "queries of the log are not released", evidence)


def verify_exact_degrees(k: int, typed: TypedQueries, published: np.ndarray, degree: np.ndarray) -> Verdict:
    """The texts of degree k or more are published, each with its degree, and no other."""
    wrong = np.flatnonzero(published != np.where(degree >= k, degree, 0))
    if not len(wrong):
        return HOLDS
    text, said, counted = typed.texts[int(wrong[0])], published[wrong[0]], degree[wrong[0]]
    if said == 0:
        return broken(f"{text!r} is not released, but its degree is {counted}, at least k={k}")
    few = f", fewer than k={k}" if counted < k else ""
    return broken(f"{text!r} is released with degree {said}, but by the log it is {counted}{few}")


def verify_degrees(k: int, rows: ReleasedQueries) -> Verdict:
    """The degree of each published string is the number of users who release it, and at least k."""
    frame = pl.DataFrame({"query": rows.query, "degree": rows.degree})
    sharing = frame.with_columns(pl.len().over("query").alias("users"))
    wrong = sharing.filter((pl.col("degree") != pl.col("users")) | (pl.col("users") < k))
    if len(wrong):
        row = wrong.row(0, named=True)
        return broken(f"{row['query']!r} has degree {row['degree']}, but {row['users']} users release it (k={k})")
    return HOLDS


def verify_profiles(evidence: Evidence, typed: TypedQueries) -> Verdict:
    """The profile of a pseudonym holds the terms of its released queries, as often as they were typed, and no more."""
    release, rows = evidence.release, evidence.release.queries
    verdict = verify_nothing_generalized(release)
    if not verdict.holds or rows is None:
        return verdict
    labels, terms = query_term_counts(evidence.log, evidence.knowledge.words)
    shape = (len(release), len(typed.texts))
    released = csr_array((rows.count, (rows.pseudonym, typed.numbers(rows.query))), shape=shape)
    return verify_weights(release, csr_array(released @ terms[typed.source]), labels, "its released queries")


VERIFIERS = (
    Verifier(
        "query-k-anonymity",
        "query",
        verify_query_k_anonymity,
        lambda values: (
            f"At least {values['k']} users typed each released query, and whatever so many typed is released "
            "of all of them, with their number as its degree."
        ),
        {"k": AT_LEAST_TWO},
        files=(QUERIES,),
    ),
)
