"""Do shares of queries hold? They are put together by Lagrange: k of them read a query, fewer read nothing."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

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
from shoal.anonymizer.parameters import whole_number

PRIME = 2**61 - 1
BYTES = 7  # of a block of a query; a byte 128 ends a query, and zeros fill its last block
_SHARE = r"^(0|[1-9][0-9]{0,17})/([1-9][0-9]{0,17})/((?:0|[1-9][0-9]{0,18})(?:\.(?:0|[1-9][0-9]{0,18}))*)$"


@dataclass(frozen=True)
class Share:
    """A row of what is published: the number of its query, the point of its user, the values there."""

    row: int
    point: int
    values: tuple[int, ...]


def parsed(texts: pl.Series) -> list[tuple[int, Share] | None]:
    """Every share with the number of its query; none where a row is no share."""
    found: list[tuple[int, Share] | None] = []
    parts = texts.str.extract_groups(_SHARE).struct.unnest().rows()
    for row, (query, point, values) in enumerate(parts):
        numbers = () if values is None else tuple(map(int, values.split(".")))
        whole = values is not None and all(value < PRIME for value in numbers) and int(point) < PRIME
        found.append((int(query), Share(row, int(point), numbers)) if whole else None)
    return found


def by_query(shares: ReleasedQueries) -> dict[int, list[Share]]:
    """The shares of each query, by their points."""
    table: dict[int, list[Share]] = {}
    for one in parsed(shares.query):
        if one is not None:
            table.setdefault(one[0], []).append(one[1])
    return {query: sorted(some, key=lambda share: share.point) for query, some in table.items()}


def weights_at(place: int, points: Sequence[int]) -> list[int]:
    """What each share counts for the value at a place of the polynomial through them all."""
    weights = []
    for x in points:
        above = below = 1
        for other in points:
            if other != x:
                above, below = above * (place - other) % PRIME, below * (x - other) % PRIME
        weights.append(above * pow(below, -1, PRIME) % PRIME)
    return weights


def values_at(place: int, some: Sequence[Share]) -> tuple[int, ...]:
    """The values at a place of the polynomials through all of these shares, one for each block."""
    weights = weights_at(place, [share.point for share in some])
    blocks = zip(*(share.values for share in some), strict=True)
    return tuple(sum(w * y for w, y in zip(weights, block, strict=True)) % PRIME for block in blocks)


def read_text(blocks: Sequence[int]) -> str | None:
    """What is written in blocks, or none."""
    if any(block >= 1 << 8 * BYTES for block in blocks):
        return None
    content = b"".join(block.to_bytes(BYTES, "little") for block in blocks).rstrip(b"\0")
    filled = len(blocks) * BYTES - len(content)
    if not content.endswith(b"\x80") or filled >= BYTES:
        return None
    try:
        return content[:-1].decode()
    except UnicodeDecodeError:
        return None


def _is_decodable(some: Sequence[Share]) -> bool:
    """Whether no two shares have one point, and all are equally long."""
    return len({s.point for s in some}) == len(some) and len({len(s.values) for s in some}) == 1


def reads(release: Release, values: Values) -> Release:
    """A release with the queries that its shares tell. Rows that are no shares tell nothing; verify names them."""
    shares, k = release.queries, int(values["k"])
    assert shares is not None
    rows: list[int] = []
    texts: list[str] = []
    for some in by_query(shares).values():
        text = read_text(values_at(0, some[:k])) if len(some) >= k and _is_decodable(some) else None
        if text is not None:
            rows += [share.row for share in some]
            texts += [text] * len(some)
    place = np.array(rows, dtype=np.int64)
    told = ReleasedQueries(
        shares.pseudonym[place], pl.Series(texts, dtype=pl.String), shares.count[place], shares.degree[place]
    )
    return replace(release, queries=told, shares=shares)


def verify_shares(claim: Claim, evidence: Evidence) -> Verdict:
    """Decode what can be decoded, and hold it against the log; what cannot must be of fewer than k users."""
    release, k = evidence.release, int(claim.values["k"])
    if release.shares is None or release.queries is None:
        return broken("no shares are published, but the claim is about shares")
    verdict = _verify_rows(release, release.shares)
    if not verdict.holds:
        return verdict
    typed, table = typed_queries(evidence.log), by_query(release.shares)
    for check in (
        lambda: _verify_threshold(k, table, set(typed.texts.to_list())),
        lambda: _verify_told(release, claim.values),
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


def _verify_rows(release: Release, shares: ReleasedQueries) -> Verdict:
    """Each row is a share, each pseudonym is one user's with a point of its own, and degrees are counted."""
    own = verify_rows_of_one(release)
    if not own.holds:
        return own
    idle = np.bincount(shares.pseudonym, minlength=len(release)) == 0
    if idle.any():
        return broken(f"{release.pseudonyms[int(idle.argmax())]} is published, but has no share")
    rows = parsed(shares.query)
    if None in rows:
        return broken(f"{shares.query[rows.index(None)]!r:.60} is published, but is no share of a query")
    told = [one for one in rows if one is not None]
    points = pl.DataFrame({"pseudonym": shares.pseudonym, "point": [share.point for _, share in told]}).unique()
    for column in ("pseudonym", "point"):
        if points[column].is_duplicated().any():
            return broken(f"a {column} has several of the other: each pseudonym has one point, and no other has it")
    query = np.array([number for number, _ in told], dtype=np.int64)
    twice = pl.DataFrame({"query": query, "pseudonym": shares.pseudonym}).is_duplicated()
    if twice.any():
        return broken(f"{release.pseudonyms[shares.pseudonym[twice.arg_max() or 0]]} has two shares of one query")
    return _verify_counts(query, shares)


def _verify_counts(query: np.ndarray, shares: ReleasedQueries) -> Verdict:
    _, number, many = np.unique(query, return_inverse=True, return_counts=True)
    wrong = np.flatnonzero((shares.degree != many[number]) | (shares.count < 1))
    if not len(wrong):
        return HOLDS
    row = int(wrong[0])
    said = f"query {query[row]} is said to be of {shares.degree[row]} users"
    return broken(f"{said}, asked {shares.count[row]} times, but {many[number[row]]} shares of it are published")


def _verify_threshold(k: int, table: dict[int, list[Share]], known: set[str]) -> Verdict:
    """k shares tell a query, others agree, and no other query is the same; fewer tell nothing that anybody typed."""
    told: set[str | None] = set()
    for number, some in table.items():
        if not _is_decodable(some):
            return broken(f"the shares of query {number} are of different lengths, or at the same points")
        few = some[: min(len(some), k - 1)]
        if read_text(values_at(0, few)) in known:
            return broken(f"query {number} can be read by {len(few)} shares, fewer than k={k}")
        if len(some) < k:
            continue
        text = read_text(values_at(0, some[:k]))
        if text is None or not all(values_at(share.point, some[:k]) == share.values for share in some[k:]):
            return broken(f"the shares of query {number} are those of no query: they lie on no common polynomial")
        if text in told:
            return broken(f"{text!r} is shared out twice, as query {number} and as another")
        told.add(text)
    return HOLDS


def _verify_told(release: Release, values: Values) -> Verdict:
    """What is said to be read is what the shares tell."""
    told = reads(replace(release, queries=release.shares), values).queries
    other = next(iter((_lines(release.queries) - _lines(told)) + (_lines(told) - _lines(release.queries))), None)
    return HOLDS if other is None else broken(f"{other[1]!r} is said to be read, or not, but the shares tell otherwise")


def _lines(rows: ReleasedQueries | None) -> Counter[tuple[int, str, int, int]]:
    assert rows is not None
    columns = (rows.pseudonym.tolist(), rows.query.to_list(), rows.count.tolist(), rows.degree.tolist())
    return Counter(zip(*columns, strict=True))


Users = frozenset[tuple[int, int]]  # of a query: who asked it, and how often


def _verify_unread(k: int, evidence: Evidence, typed: TypedQueries, table: dict[int, list[Share]]) -> Verdict:
    """What cannot be read is what fewer than k users typed: of the same users, as often and as long."""
    shares, owner = evidence.release.shares, evidence.owner
    assert shares is not None
    said: Counter[tuple[Users, int]] = Counter()
    for some in table.values():
        if len(some) < k:
            who = frozenset((int(owner[shares.pseudonym[s.row]]), int(shares.count[s.row])) for s in some)
            said[who, len(some[0].values)] += 1
    rare = Counter(_rare(k, typed))
    if said == rare:
        return HOLDS
    return broken(
        f"{said.total()} queries of fewer than k={k} users are shared out, but they are not those of the log, "
        f"where there are {rare.total()}: by their users, how often each asked, or how long they are"
    )


def _rare(k: int, typed: TypedQueries) -> list[tuple[Users, int]]:
    columns = typed.times.tocsc()
    blocks = (typed.texts.str.len_bytes() // BYTES + 1).to_list()
    found = []
    for text in np.flatnonzero((typed.users > 0) & (typed.users < k)).tolist():
        part = slice(columns.indptr[text], columns.indptr[text + 1])
        pairs = zip(columns.indices[part].tolist(), columns.data[part].tolist(), strict=True)
        found.append((frozenset(pairs), int(blocks[text])))
    return found


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
