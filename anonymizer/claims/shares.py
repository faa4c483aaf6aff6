"""Do shares of queries hold? They are put together by Lagrange: k of them read a query, fewer read nothing."""

from dataclasses import replace

import numpy as np
import polars as pl

from shoal.anonymizer.base import QUERIES, Claim, Release, ReleasedQueries
from shoal.anonymizer.claims import HOLDS, Evidence, Values, Verdict, Verifier, broken
from shoal.anonymizer.claims.groups import verify_rows_of_one
from shoal.anonymizer.claims.queries import (
    TypedQueries,
    published_degrees,
    typed_queries,
    verify_counted,
    verify_exact_degrees,
    verify_profiles,
    verify_typed,
)
from shoal.anonymizer.claims.share_columns import BYTES, Shares, cut, offsets, parsed
from shoal.anonymizer.parameters import whole_number


def reads(release: Release, values: Values) -> Release:
    """A release with the queries that its shares tell. Rows that are no shares tell nothing; verify names them."""
    assert release.queries is not None
    table = parsed(release.queries.query)
    told = _told(release.queries, table, table.texts(int(values["k"])))
    return replace(release, queries=told, shares=release.queries)


def _told(shares: ReleasedQueries, table: Shares, texts: pl.Series) -> ReleasedQueries:
    """The rows of each query that can be read, with its text."""
    told = texts.is_not_null().to_numpy()
    place = table.row[np.repeat(told, table.many)]
    query = texts.gather(np.repeat(np.flatnonzero(told), table.many[told]))
    return ReleasedQueries(shares.pseudonym[place], query, shares.count[place], shares.degree[place])


def verify_shares(claim: Claim, evidence: Evidence) -> Verdict:
    """Decode what can be decoded, and hold it against the log; what cannot must be of fewer than k users."""
    release, k = evidence.release, int(claim.values["k"])
    if release.shares is None or release.queries is None:
        return broken("no shares are published, but the claim is about shares")
    table = parsed(release.shares.query)
    verdict = _verify_rows(release, release.shares, table)
    if not verdict.holds:
        return verdict
    typed, texts = typed_queries(evidence.log), table.texts(k)
    for check in (
        lambda: _verify_threshold(k, table, texts, typed.texts),
        lambda: _verify_told(release, table, texts),
        lambda: verify_typed(evidence, typed),
        lambda: verify_exact_degrees(k, typed, published_degrees(evidence, typed), typed.users),
        lambda: _verify_unread(k, evidence, typed, table),
        lambda: verify_counted(evidence),
        lambda: verify_profiles(evidence, typed),
    ):
        verdict = check()
        if not verdict.holds:
            return verdict
    return HOLDS


def _verify_rows(release: Release, shares: ReleasedQueries, table: Shares) -> Verdict:
    """Each row is a share, each pseudonym is one user's with a point of its own, and degrees are counted."""
    own = verify_rows_of_one(release)
    if not own.holds:
        return own
    idle = np.bincount(shares.pseudonym, minlength=len(release)) == 0
    if idle.any():
        return broken(f"{release.pseudonyms[int(idle.argmax())]} is published, but has no share")
    other = np.flatnonzero(np.bincount(table.row, minlength=len(shares.query)) == 0)
    if len(other):
        return broken(f"{shares.query[int(other[0])]!r:.60} is published, but is no share of a query")
    points = pl.DataFrame({"pseudonym": shares.pseudonym[table.row], "point": table.point}).unique()
    for column in ("pseudonym", "point"):
        if points[column].is_duplicated().any():
            return broken(f"a {column} has several of the other: each pseudonym has one point, and no other has it")
    if table.again.any():  # as each point is one pseudonym's
        name = release.pseudonyms[shares.pseudonym[table.row[table.again.argmax()]]]
        return broken(f"{name} has two shares of one query")
    return _verify_counts(shares, table)


def _verify_counts(shares: ReleasedQueries, table: Shares) -> Verdict:
    many = np.repeat(table.many, table.many)
    wrong = np.flatnonzero((shares.degree[table.row] != many) | (shares.count[table.row] < 1))
    if not len(wrong):
        return HOLDS
    share = wrong[table.row[wrong].argmin()]
    row = table.row[share]
    said = f"query {table.query[share]} is said to be of {shares.degree[row]} users"
    return broken(f"{said}, asked {shares.count[row]} times, but {many[share]} shares of it are published")


def _verify_threshold(k: int, table: Shares, texts: pl.Series, known: pl.Series) -> Verdict:
    """k shares tell a query, others agree, and no other query is the same; fewer tell nothing that anybody typed."""
    number = table.query[table.first[:-1]]
    if not table.fit.all():
        number = number[table.fit.argmin()]
        return broken(f"the shares of query {number} are of different lengths, or at the same points")
    few = np.minimum(table.many, k - 1)
    found = table.decoded(few)
    known = known.cast(pl.Binary)
    typed = known.filter(known.is_in(found.drop_nulls().implode()))
    if len(typed):
        place = int(found.is_in(typed.implode()).fill_null(False).to_numpy().argmax())
        return broken(f"query {number[place]} can be read by {few[place]} shares, fewer than k={k}")
    wrong = (table.many >= k) & texts.is_null().to_numpy() | table.astray(k)
    if wrong.any():
        number = number[wrong.argmax()]
        return broken(f"the shares of query {number} are those of no query: they lie on no common polynomial")
    twice = texts.is_not_null() & ~texts.is_first_distinct()
    if twice.any():
        place = twice.arg_max() or 0
        return broken(f"{texts[place]!r} is shared out twice, as query {number[place]} and as another")
    return HOLDS


def _verify_told(release: Release, table: Shares, texts: pl.Series) -> Verdict:
    """What is said to be read is what the shares tell."""
    assert release.shares is not None
    assert release.queries is not None
    said, told = _lines(release.queries), _lines(_told(release.shares, table, texts))
    if said.equals(told):  # as it was just read
        return HOLDS
    sides = pl.concat([said.with_columns(side=pl.lit(1)), told.with_columns(side=pl.lit(-1))])
    other = sides.group_by(said.columns, maintain_order=True).agg(pl.col("side").sum()).filter(pl.col("side") != 0)
    if not len(other):
        return HOLDS
    return broken(f"{other['query'][0]!r} is said to be read, or not, but the shares tell otherwise")


def _lines(rows: ReleasedQueries) -> pl.DataFrame:
    numbers = {"pseudonym": rows.pseudonym, "count": rows.count, "degree": rows.degree}
    return pl.DataFrame({"query": rows.query} | {n: pl.Series(told, dtype=pl.Int64) for n, told in numbers.items()})


def _verify_unread(k: int, evidence: Evidence, typed: TypedQueries, table: Shares) -> Verdict:
    """What cannot be read is what fewer than k users typed: of the same users, as often and as long."""
    shares, owner = evidence.release.shares, evidence.owner
    assert shares is not None
    unread = table.many < k
    row = table.row[np.repeat(unread, table.many)]
    blocks = table.length[unread]
    said = _asked(table.many[unread], owner[shares.pseudonym[row]], shares.count[row], blocks)
    rare = _rare(k, typed)
    if said.equals(rare):
        return HOLDS
    return broken(
        f"{len(said)} queries of fewer than k={k} users are shared out, but they are not those of the log, "
        f"where there are {len(rare)}: by their users, how often each asked, or how long they are"
    )


def _rare(k: int, typed: TypedQueries) -> pl.Series:
    rare = (typed.users > 0) & (typed.users < k)
    columns = typed.times[:, np.flatnonzero(rare)].tocsc()
    blocks = typed.texts.str.len_bytes().to_numpy()[rare] // BYTES + 1
    return _asked(np.diff(columns.indptr), columns.indices, columns.data, blocks)


def _asked(users: np.ndarray, user: np.ndarray, times: np.ndarray, blocks: np.ndarray) -> pl.Series:
    """Of each query its blocks, and its users with how often each asked, as one string of bytes; all in order."""
    query = np.repeat(np.arange(len(users)), users)
    order = np.lexsort((user, query))
    start = offsets(1 + 2 * users)
    told = np.empty(start[-1], dtype=np.int64)
    told[start[:-1]] = blocks
    place = 2 * np.arange(len(user)) + query + 1
    told[place], told[place + 1] = user[order], times[order]
    return cut(told.view(np.uint8), 8 * start).sort()


VERIFIERS = (
    Verifier(
        "threshold-shares",
        "query",
        verify_shares,
        lambda values: (
            f"A query can be read by the shares of the {values['k']} or more users who asked it, and is what they "
            f"typed; fewer than {values['k']} shares read nothing. That the shares were drawn at random cannot be "
            "checked."
        ),
        {"k": whole_number(2, 1000)},
        files=(QUERIES,),
        reads=reads,
    ),
)
