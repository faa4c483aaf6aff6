"""Do released queries hold? What every query method must keep, and the claim that k users typed each query."""

from collections import Counter
from functools import reduce

import polars as pl

from shoal.anonymizer.base import QUERIES, Claim
from shoal.anonymizer.claims import HOLDS, Evidence, Verdict, Verifier, broken
from shoal.anonymizer.parameters import AT_LEAST_TWO
from shoal.corpus.tokens import tokenize

TOLERANCE = 1e-6


def verify_query_k_anonymity(claim: Claim, evidence: Evidence) -> Verdict:
    """Every released query is released, as this very string, by at least k users who typed it."""
    typed = verify_typed(evidence)
    if not typed.holds:
        return typed
    rows = released_rows(evidence)
    few = verify_degrees(int(claim.values["k"]), rows)
    return verify_profiles(evidence, rows) if few.holds else few


def released_rows(evidence: Evidence) -> pl.DataFrame:
    """The published queries with the users behind them: pseudonym, user, query, count, degree."""
    release, assignment = evidence.release, evidence.assignment
    queries = release.queries
    assert queries is not None
    owner = pl.DataFrame(
        {"pseudonym": assignment.profile, "user": assignment.users.gather(assignment.user)},
        schema={"pseudonym": pl.Int64, "user": pl.String},
    )
    rows = pl.DataFrame(
        {"pseudonym": queries.pseudonym, "query": queries.query, "count": queries.count, "degree": queries.degree},
        schema={"pseudonym": pl.Int64, "query": pl.String, "count": pl.Int64, "degree": pl.Int64},
    )
    return rows.join(owner, on="pseudonym", how="left", maintain_order="left")


def asked_rows(evidence: Evidence) -> pl.DataFrame:
    """How often each user typed each query, from the log: user, query (lower case, single blanks), times."""
    log = evidence.log
    spelled = pl.Series([" ".join(query.lower().split()) for query in log.queries.to_list()], dtype=pl.String)
    events = pl.DataFrame({"user": log.users.cast(pl.String).gather(log.user), "query": spelled.gather(log.query)})
    return events.group_by("user", "query").agg(pl.len().cast(pl.Int64).alias("times"))


def verify_released_by_one(evidence: Evidence) -> Verdict:
    """Queries are there, every pseudonym is one user's, has something released, and lists no query twice."""
    if evidence.release.queries is None:
        return broken("no queries are published, but the claim is about queries")
    names = evidence.release.pseudonyms
    shared = [row for row, users in enumerate(evidence.release.users.tolist()) if users != 1]
    if shared:
        return broken(f"{names[shared[0]]} is shared by {evidence.release.users[shared[0]]} users, expected one")
    rows = released_rows(evidence)
    idle = sorted(set(range(len(names))) - set(rows["pseudonym"].to_list()))
    if idle:
        return broken(f"{names[idle[0]]} has a profile, but no released query")
    never = rows.filter(pl.col("count") < 1)
    if len(never):
        return broken(f"{names[never['pseudonym'][0]]} lists {never['query'][0]!r} {never['count'][0]} times")
    twice = rows.filter(pl.struct("pseudonym", "query").is_duplicated())
    if len(twice):
        return broken(f"{names[twice['pseudonym'][0]]} lists {twice['query'][0]!r} twice")
    return HOLDS


def verify_counted(evidence: Evidence) -> Verdict:
    """What is not released is counted as suppressed."""
    missing = len(evidence.log) - int(released_rows(evidence)["count"].sum())
    if missing != evidence.suppressed.occurrences:
        said = evidence.suppressed.occurrences
        return broken(f"{missing} queries of the log are not released, but the manifest counts {said}")
    return HOLDS


def verify_typed(evidence: Evidence) -> Verdict:
    """Every released query was typed by the user of its pseudonym, as often as it says."""
    single = verify_released_by_one(evidence)
    if not single.holds:
        return single
    rows = released_rows(evidence).join(asked_rows(evidence), on=["user", "query"], how="left", maintain_order="left")
    wrong = rows.filter((pl.col("times").fill_null(0) != pl.col("count")) | (pl.col("query").fill_null("") == ""))
    if len(wrong):
        row = wrong.row(0, named=True)
        name = evidence.release.pseudonyms[row["pseudonym"]]
        return broken(
            f"{name} lists {row['query']!r} {row['count']} times, its user typed it {row['times'] or 0} times"
        )
    return verify_counted(evidence)


def verify_degrees(k: int, rows: pl.DataFrame) -> Verdict:
    """The degree of each published string is the number of users who release it, and at least k."""
    sharing = rows.with_columns(pl.len().over("query").alias("users"))
    wrong = sharing.filter((pl.col("degree") != pl.col("users")) | (pl.col("users") < k))
    if len(wrong):
        row = wrong.row(0, named=True)
        return broken(f"{row['query']!r} has degree {row['degree']}, but {row['users']} users release it (k={k})")
    return HOLDS


def verify_profiles(evidence: Evidence, rows: pl.DataFrame) -> Verdict:
    """The profile of a pseudonym holds the terms of its released queries, as often as they were typed, and no more."""
    words = evidence.knowledge.words
    terms = {
        query: Counter(term for token in tokenize(query) if (term := words(token)) is not None)
        for query in rows["query"].unique().to_list()
    }
    if evidence.release.generalized.any():
        label = evidence.release.labels[int(evidence.release.generalized.argmax())]
        return broken(f"{label!r} is marked as generalized, but nothing was")
    for (row,), part in rows.group_by("pseudonym", maintain_order=True):
        bags = [
            Counter({term: number * count for term, number in terms[query].items()})
            for query, count in part.select("query", "count").iter_rows()
        ]
        verdict = same_profile(evidence, int(str(row)), reduce(Counter.__add__, bags, Counter()))
        if not verdict.holds:
            return verdict
    return HOLDS


def same_profile(evidence: Evidence, row: int, expected: Counter[str]) -> Verdict:
    published = evidence.release.profile(row)
    for label in sorted(published.keys() | expected.keys()):
        if abs(published.get(label, 0) - expected[label]) > TOLERANCE * max(1, expected[label]):
            return broken(
                f"{evidence.release.pseudonyms[row]} publishes {label!r} with weight {published.get(label, 0):g}, "
                f"but its released queries make {expected[label]}"
            )
    return HOLDS


VERIFIERS = (
    Verifier(
        "query-k-anonymity",
        "query",
        verify_query_k_anonymity,
        lambda values: f"Every released query was typed by at least {values['k']} users.",
        {"k": AT_LEAST_TWO},
        files=(QUERIES,),
    ),
)
