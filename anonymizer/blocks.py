"""How is a large log anonymized in blocks of users that no group crosses, and how do their releases become one?

The rule by which users are cut, the order of a block's rows and its seed say nothing of the machine: a block is the
same wherever it is run, and so is the release.

How are many users cut into blocks of similar ones? By two-means, again and again, so that nothing grows as n * n.
"""

import hashlib
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import ClassVar

import numpy as np
import polars as pl
from scipy.sparse import csr_array, vstack

from shoal.anonymizer.base import Anonymized, Blocks, Method, MethodInfo, ReleasedQueries, Suppressed
from shoal.anonymizer.publish import publish
from shoal.corpus.errors import InputError
from shoal.corpus.progress import Progress, silent
from shoal.corpus.querylog import NO_TIME, PeopleKind, QueryLog, make_log

TOTALS = {"kind": pl.String, "key": pl.String, "count": pl.Int64}


class CountedMethod(ABC):
    """What a method adds whose blocks must know something that is counted over all of them."""

    one_profile: ClassVar[bool] = False  # whether all blocks publish one and the same profile

    def fewest(self) -> Mapping[str, int]:
        """By kind: totals below that are of no use to any block, and need not be brought together."""
        return {}

    @abstractmethod
    def count_block(self, log: QueryLog, seed: int) -> pl.DataFrame:
        """What a block counts, as `totals` makes it: it is added up over all blocks."""

    def settle(self, totals: pl.DataFrame, seed: int, progress: Progress) -> pl.DataFrame:
        """What is done once with the totals of all blocks, before each sees them."""
        return totals

    @abstractmethod
    def run_block(self, log: QueryLog, totals: pl.DataFrame, seed: int, progress: Progress) -> Anonymized:
        """What is published of a block, where this was counted over all."""


def totals(**kinds: Mapping[str, int] | int) -> pl.DataFrame:
    """Counts by kind and key; a kind that is a single number has one key, which is empty."""
    tables = {kind: {"": given} if isinstance(given, int) else given for kind, given in kinds.items()}
    rows = [(kind, key, count) for kind, table in tables.items() for key, count in table.items()]
    return pl.DataFrame(rows, schema=TOTALS, orient="row")


def added(parts: Sequence[pl.DataFrame], fewest: Mapping[str, int]) -> pl.DataFrame:
    """The sums over all blocks, without those that are of no use."""
    sums = pl.concat(parts).group_by("kind", "key").agg(pl.col("count").sum())
    least = pl.col("kind").replace_strict(dict(fewest), default=0, return_dtype=pl.Int64) if fewest else pl.lit(0)
    return sums.filter(pl.col("count") >= least).sort("kind", "key")


def counts_of(totals: pl.DataFrame, kind: str) -> dict[str, int]:
    """The totals of one kind by their keys, in the order of these."""
    some = totals.filter(pl.col("kind") == kind).sort("key")
    return dict(zip(some["key"].to_list(), some["count"].to_list(), strict=True))


def total_of(totals: pl.DataFrame, kind: str) -> int:
    return counts_of(totals, kind).get("", 0)


def need_blocks(info: MethodInfo) -> None:
    """Refuse a method that has no meaning in blocks, in the words of its declaration."""
    if info.cluster not in ("blocks", "counts"):
        raise InputError(f"{info.id} cannot be run in blocks of users: {info.cluster}")


def shown_by_blocks(info: MethodInfo) -> bool:
    """Whether each block shows that what is promised is kept there; else it is counted over all of them."""
    return info.cluster == "blocks" and info.unit != "query"


def block_of_users(names: pl.Series, size: int) -> np.ndarray:
    """The block of each user: `size` of them after the other, in the order of their names' sha-256.

    By the order of names, people who came at one time or from one place would be among themselves. The last block has
    up to `size` users more, where so few are left.
    """
    digests = [hashlib.sha256(name.encode()).hexdigest() for name in names.to_list()]
    rank = np.empty(len(digests), dtype=np.int64)
    rank[np.argsort(np.array(digests, dtype=np.str_), kind="stable")] = np.arange(len(digests))
    return np.minimum(rank // size, max(len(digests) // size, 1) - 1)


def block_log(rows: pl.DataFrame, people: PeopleKind = "real") -> QueryLog:
    """A log of rows (user, query, time in seconds, click), whatever order they come in."""
    rows = rows.with_columns(pl.col("time").fill_null(NO_TIME), pl.col("click").fill_null(""))
    rows = rows.sort("user", "time", "query", "click")
    return make_log(rows["user"], rows["query"], rows["time"].to_numpy(), rows["click"], people)


def rows_of(log: QueryLog) -> pl.DataFrame:
    """The rows of a log, as `block_log` takes them."""
    return log.frame().with_columns(pl.col("time").dt.epoch("s"))


def ordered(log: QueryLog) -> QueryLog:
    """The log in the order that its blocks have, in which rows of one second may be clicks on one answer."""
    return block_log(rows_of(log), log.people)


def cut(log: QueryLog, size: int) -> list[QueryLog]:
    """The log of each block."""
    block = pl.DataFrame({"user": log.users, "block": block_of_users(log.users, size)})
    rows = rows_of(log).join(block, on="user")
    parts = rows.partition_by("block", as_dict=True, include_key=False)
    return [block_log(parts[key], log.people) for key in sorted(parts)]


def digest_of(digests: Sequence[str]) -> str:
    """The digest of a log in blocks: of those of its blocks, which no machine need hold at once."""
    return hashlib.sha256("\n".join(digests).encode()).hexdigest()


def described(logs: Sequence[QueryLog], size: int) -> Blocks:
    return Blocks(size, sum(len(log.users) for log in logs), digest_of([log.digest() for log in logs]))


def block_seed(info: MethodInfo, seed: int, block: int) -> int:
    """Each block draws numbers of its own; a secret that all must share, such as a key, is one."""
    if info.randomness == "secret":
        return seed
    return int.from_bytes(hashlib.sha256(f"{seed}/{block}".encode()).digest()[:6])


def anonymize_in_blocks(
    method: Method, log: QueryLog, size: int, *, seed: int = 0, progress: Progress = silent
) -> Anonymized:
    """What a method publishes of a log in blocks of `size` users."""
    need_blocks(method.info)
    logs = cut(log, size)
    shared = None
    if isinstance(method, CountedMethod):
        counts = []
        for number, some in enumerate(logs):
            progress(number, len(logs), "counting in blocks")
            counts.append(method.count_block(some, block_seed(method.info, seed, number)))
        shared = method.settle(added(counts, method.fewest()), seed, progress)
    parts = []
    for number, some in enumerate(logs):
        alive = _keeping(progress, number, len(logs), "anonymizing blocks")
        parts.append(anonymize_block(method, some, shared, seed, number, alive))
    return united(method, parts, described(logs, size))


def _keeping(progress: Progress, done: int, total: int, stage: str) -> Progress:
    """What a block may call: it says that the run is alive, and leaves the stage and its number as they are."""
    progress(done, total, stage)
    return lambda *_: progress(done, total, stage)


def anonymize_block(
    method: Method, log: QueryLog, shared: pl.DataFrame | None, seed: int, block: int, progress: Progress = silent
) -> Anonymized:
    """What a method publishes of one block."""
    own = block_seed(method.info, seed, block)
    try:
        if isinstance(method, CountedMethod) and shared is not None:
            return method.run_block(log, shared, own, progress)
        return method.run(log, seed=own, progress=progress)
    except InputError as error:
        raise InputError(f"a block of {len(log.users)} users cannot be anonymized ({error}): give more") from error


def united(method: Method, parts: Sequence[Anonymized], blocks: Blocks) -> Anonymized:
    """One release of those of all blocks. It is put in order anew, so that nothing tells which profile is of which."""
    releases = [part.release for part in parts]
    labels = sorted({label for release in releases for label in release.labels})
    general = {
        label: bool(flag)
        for release in releases
        for label, flag in zip(release.labels, release.generalized, strict=True)
    }
    one = isinstance(method, CountedMethod) and method.one_profile
    made = publish(
        pl.concat([part.assignment.users for part in parts]),
        _members(parts, one),
        _weights(parts[:1] if one else parts, labels),
        labels,
        parts[0].claim,
        Suppressed(
            sum(part.suppressed.occurrences for part in parts), sum(part.suppressed.users for part in parts)
        ),
        np.array([general[label] for label in labels], dtype=bool),
        _queries(method, parts[:1] if one else parts),
    )  # fmt: skip
    release = replace(made.release, catalogue=releases[0].catalogue)
    assignment = replace(made.assignment, key=parts[0].assignment.key)
    return replace(made, release=release, assignment=assignment, blocks=blocks)


def _starts(numbers: Sequence[int]) -> np.ndarray:
    return np.concatenate([[0], np.cumsum(numbers)]).astype(np.int64)


def _members(parts: Sequence[Anonymized], one: bool) -> tuple[np.ndarray, np.ndarray]:
    users = _starts([len(part.assignment.users) for part in parts])
    rows = _starts([0 if one else len(part.release) for part in parts])
    user = [part.assignment.user + first for part, first in zip(parts, users[:-1], strict=True)]
    row = [part.assignment.profile + first for part, first in zip(parts, rows[:-1], strict=True)]
    return np.concatenate(user), np.concatenate(row)


def _weights(parts: Sequence[Anonymized], labels: list[str]) -> csr_array:
    column = {label: place for place, label in enumerate(labels)}
    moved = []
    for part in parts:
        old = part.release.weights
        place = np.array([column[label] for label in part.release.labels], dtype=np.int64)
        columns = place[old.indices] if len(place) else old.indices
        moved.append(csr_array((old.data, columns, old.indptr), shape=(len(part.release), len(labels))))
    return csr_array(vstack(moved, format="csr"))


def _queries(method: Method, parts: Sequence[Anonymized]) -> ReleasedQueries | None:
    """The queries of all; where single queries are protected, the degree of one is all of its users."""
    found = [part.release.queries for part in parts]
    some = [queries for queries in found if queries is not None]
    if not some:
        return None
    rows = _starts([len(part.release) for part in parts])
    pseudonym = np.concatenate([q.pseudonym + first for q, first in zip(some, rows[:-1], strict=True)])
    query, count = pl.concat([q.query for q in some]), np.concatenate([q.count for q in some])
    degree = np.concatenate([q.degree for q in some])
    if method.info.unit == "query":
        degree = pl.DataFrame({"query": query}).select(pl.len().over("query").cast(pl.Int64)).to_series().to_numpy()
    return ReleasedQueries(pseudonym.astype(np.int32), query, count, degree)


_ROUNDS = 3  # of moving the two centres; more change little
Wide = Callable[[np.ndarray], bool]


def similar_blocks(
    vectors: csr_array,
    most: int,
    wide: Wide,
    rng: np.random.Generator,
    progress: Progress = silent,
    multiple: int = 1,
) -> list[np.ndarray]:
    """Rows in blocks of at most `most`, by cutting in halves again and again; a half that is not `wide` is not made.

    Every block but the last has a multiple of so many rows, so that groups of that size lose nobody at the cuts.
    """
    norms = np.sqrt(np.asarray(vectors.multiply(vectors).sum(axis=1)).ravel())
    scale = csr_array((1 / norms, np.arange(len(norms)), np.arange(len(norms) + 1)), shape=(len(norms), len(norms)))
    units = csr_array(scale @ vectors)
    done: list[np.ndarray] = []
    waiting = [np.arange(vectors.shape[0])]
    while waiting:
        rows = waiting.pop()
        progress(sum(len(block) for block in done), vectors.shape[0], "cutting into blocks")
        halves = _halves(units, rows, rng, multiple) if len(rows) > most else ()
        if halves and all(wide(half) for half in halves):
            waiting.extend(reversed(halves))
        else:
            done.append(rows)
    return done


def _halves(
    units: csr_array, rows: np.ndarray, rng: np.random.Generator, multiple: int
) -> tuple[np.ndarray, np.ndarray]:
    """Two halves of equal size, each nearer to its own centre (two-means with a cut at the median)."""
    half = len(rows) // 2 // multiple * multiple
    part = csr_array(units[rows])
    first, second = rng.choice(len(rows), 2, replace=False)
    direction = (part[[first]] - part[[second]]).toarray().ravel()
    for _ in range(_ROUNDS):
        order = np.argsort(-(part @ direction), kind="stable")
        side = np.zeros(len(rows))
        side[order[:half]] = 1.0
        direction = _centre(part, side) - _centre(part, 1 - side)
    return rows[side > 0], rows[side == 0]


def _centre(part: csr_array, side: np.ndarray) -> np.ndarray:
    total = side @ part
    return np.asarray(total / np.sqrt(total @ total))
