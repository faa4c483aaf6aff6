"""How does a cluster make a release? It reads the log, cuts users into blocks, and runs the method on each of them.

How does the release of a block travel from a worker? As tables in bytes, which are no program when they are read.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache
from io import BytesIO
from typing import Any

import numpy as np
import polars as pl
from scipy.sparse import csr_array

from shoal.anonymizer.base import (
    Anonymized,
    Assignment,
    Blocks,
    Catalogue,
    Claim,
    Method,
    Release,
    ReleasedQueries,
    Suppressed,
)
from shoal.anonymizer.blocks import (
    CountedMethod,
    anonymize_block,
    block_log,
    block_seed,
    digest_of,
    need_blocks,
    united,
)
from shoal.anonymizer.cluster.log_rows import ClusterLog, as_arrow, read_rows
from shoal.anonymizer.cluster.session import Session, opened
from shoal.anonymizer.manifest import code_digest
from shoal.anonymizer.publish import pseudonyms
from shoal.anonymizer.registry import make_method
from shoal.corpus.errors import InputError
from shoal.corpus.knowledge import Knowledge
from shoal.corpus.logs.aol import LogFormat
from shoal.corpus.progress import Progress
from shoal.corpus.querylog import PeopleKind, QueryLog, counted
from shoal.corpus.tokens import read_key

_TABLES = ("profiles", "labels", "weights", "users", "members", "queries", "catalogue")
PARTS = (
    "block bigint, error string, log_users bigint, digest string, occurrences bigint, left_out bigint, key string, "
    + ", ".join(f"{name} binary" for name in _TABLES)
)


def failed(block: int, reason: str) -> pl.DataFrame:
    """The row of a block that cannot be anonymized, and why."""
    return _row(block, error=reason)


def packed(block: int, log: QueryLog, made: Anonymized) -> pl.DataFrame:
    """The row of a block: its release, and what the manifest says of its log."""
    release, assignment = made.release, made.assignment
    cells = release.weights.tocoo()
    tables = {
        "profiles": pl.DataFrame({"users": release.users}),
        "labels": pl.DataFrame({"label": release.labels, "generalized": release.generalized}, schema=_LABELS),
        "weights": pl.DataFrame({"row": cells.row, "label": cells.col, "weight": cells.data}, schema=_WEIGHTS),
        "users": pl.DataFrame({"user": assignment.users}),
        "members": pl.DataFrame({"user": assignment.user, "row": assignment.profile}),
    }
    if release.queries is not None:
        tables["queries"] = pl.DataFrame({name: getattr(release.queries, name) for name in _QUERIES})
    if release.catalogue is not None:
        tables["catalogue"] = pl.DataFrame({name: getattr(release.catalogue, name) for name in _CATALOGUE})
    return _row(
        block,
        log_users=len(log.users),
        digest=log.digest(),
        occurrences=made.suppressed.occurrences,
        left_out=made.suppressed.users,
        key=None if assignment.key is None else assignment.key.text(),
        **{name: _bytes(table) for name, table in tables.items()},
    )


_LABELS = {"label": pl.String, "generalized": pl.Boolean}
_WEIGHTS = {"row": pl.Int64, "label": pl.Int64, "weight": pl.Float64}
_QUERIES = ("pseudonym", "query", "count", "degree")
_CATALOGUE = ("terms", "users", "mean")
_KINDS = {"bigint": pl.Int64, "string": pl.String, "binary": pl.Binary}
_SCHEMA = {name: _KINDS[kind] for name, kind in (column.split() for column in PARTS.split(", "))}


def _row(block: int, **found: Any) -> pl.DataFrame:
    return pl.DataFrame({name: [{"block": block, **found}.get(name)] for name in _SCHEMA}, schema=_SCHEMA)


def _bytes(table: pl.DataFrame) -> bytes:
    held = BytesIO()
    table.write_ipc(held, compression="zstd")
    return held.getvalue()


def unpacked(row: dict[str, Any], claim: Claim) -> Anonymized:
    """The release of a block, as its worker made it."""
    tables = {name: pl.read_ipc(BytesIO(row[name])) for name in _TABLES if row[name] is not None}
    labels, weights, members = tables["labels"], tables["weights"], tables["members"]
    users = tables["profiles"]["users"].to_numpy()
    cells = (weights["weight"].to_numpy(), (weights["row"].to_numpy(), weights["label"].to_numpy()))
    release = Release(
        pseudonyms(len(users)),
        users,
        labels["label"].to_list(),
        labels["generalized"].to_numpy(),
        csr_array(cells, shape=(len(users), len(labels))),
        _queries(tables.get("queries")),
        _catalogue(tables.get("catalogue")),
    )
    key = None if row["key"] is None else read_key(row["key"])
    pairs = (members["user"].to_numpy().astype(np.int32), members["row"].to_numpy().astype(np.int32))
    assignment = Assignment(tables["users"]["user"], *pairs, key)
    return Anonymized(release, assignment, claim, Suppressed(row["occurrences"], row["left_out"]))


def _queries(table: pl.DataFrame | None) -> ReleasedQueries | None:
    if table is None:
        return None
    numbers = {name: table[name].to_numpy() for name in _QUERIES if name != "query"}
    return ReleasedQueries(query=table["query"], **numbers)


def _catalogue(table: pl.DataFrame | None) -> Catalogue | None:
    return None if table is None else Catalogue(
        table["terms"].to_list(), table["users"].to_numpy(), table["mean"].to_numpy()
    )  # fmt: skip


_TOTALS = "kind string, key string, count bigint, error string"


@dataclass(frozen=True)
class Task:
    """What every worker is told: the method with its settings, and what it must have for that."""

    method: str
    settings: tuple[tuple[str, Any], ...]
    knowledge: Knowledge
    people: PeopleKind
    seed: int
    code: str
    digests: tuple[tuple[str, str], ...]


@dataclass(frozen=True, eq=False)
class ClusterRelease:
    """A release that a cluster made, and what was understood of its log."""

    made: Anonymized
    understood: str
    rejected: dict[str, int]  # how many rows could not be read, by their reason


def anonymize_on_cluster(
    address: str, where: str, method: Method, size: int, seed: int, format: LogFormat, strict: bool, progress: Progress
) -> ClusterRelease:
    """The release that `anonymize_in_blocks` makes of the same log, by a cluster."""
    need_blocks(method.info)
    with opened(address, progress) as session:
        log, rejected, rows = rows_in_blocks(session, where, size, format, strict)
        task = _task(method, log.people, seed)
        shared = None
        if isinstance(method, CountedMethod):
            rows = session.kept(rows)
            shared = _counted(session, rows, method, task, seed, progress)
        parts = _collected(session, rows, lambda key, table: _anonymized(key, table, task, shared))
        made = _united(method, parts, size)
    said = f"{counted(int(parts['log_users'].sum()), 'user')} in {counted(len(parts), 'block')} ({log.understood})"
    return ClusterRelease(made, said, rejected)


def rows_in_blocks(
    session: Session, where: str, size: int, format: LogFormat, strict: bool
) -> tuple[ClusterLog, dict[str, int], Any]:
    """The log, how many of its rows cannot be read and why, and the others with their block."""
    log = read_rows(session.spark, where, format)
    users = pl.DataFrame(session.run(log.users().toArrow, "reading the log"))
    rejected = _rejected(users, strict)
    begins = _begins(users, size)
    return log, rejected, log.rows(begins).repartitionById(len(begins) + 1, "block")


def _task(method: Method, people: PeopleKind, seed: int) -> Task:
    known = replace(method.knowledge)  # without what was read of its files
    settings = tuple(method.settings.items())
    digests = tuple(sorted(method.knowledge.digests.items()))
    return Task(method.info.id, settings, known, people, seed, code_digest(method), digests)


def _rejected(users: pl.DataFrame, strict: bool) -> dict[str, int]:
    """How many rows cannot be read, by reason. That none can is an error, and with `strict` that one cannot."""
    sums = users.group_by("reason").agg(pl.col("count").sum())
    reasons = dict(zip(sums["reason"].to_list(), sums["count"].to_list(), strict=True))
    read = reasons.pop("", 0)
    if reasons and (strict or not read):
        reason, count = max(reasons.items(), key=lambda one: one[1])
        raise InputError(f"{counted(count, 'row')} of the log cannot be read: {reason}")
    if not read:
        raise InputError("the log is empty: a log has at least one row")
    return dict(sorted(reasons.items(), key=lambda one: -one[1]))


def _begins(users: pl.DataFrame, size: int) -> list[bytes]:
    """The digest of the first user of every block but the first, as `block_of_users` cuts them.

    All users come to this machine here, as they do with the release; their rows never do.
    """
    digests = users.filter(pl.col("reason") == "")["digest"].sort()
    blocks = max(len(digests) // size, 1)
    return digests.gather(list(range(size, blocks * size, size))).to_list()


def _counted(
    session: Session, rows: Any, method: CountedMethod, task: Task, seed: int, progress: Progress
) -> pl.DataFrame:
    """What is counted over all blocks; only what is of use comes to this machine."""
    from pyspark.sql import functions as f

    found = rows.groupBy("block").applyInArrow(lambda key, table: _block_counts(key, table, task), _TOTALS)
    sums = found.groupBy("kind", "key").agg(f.sum("count").alias("count"), f.first("error", True).alias("error"))
    for kind, least in method.fewest().items():
        sums = sums.where((f.col("kind") != kind) | (f.col("count") >= least))
    table = pl.DataFrame(session.run(sums.toArrow, "counting in blocks"))
    raise_first(table["error"])
    return method.settle(table.drop("error").sort("kind", "key"), seed, progress)


def _collected(session: Session, rows: Any, work: Callable[[Any, Any], Any]) -> pl.DataFrame:
    """What a function of (block, rows) gives for every block, in their order."""
    parts = rows.groupBy("block").applyInArrow(work, PARTS)
    table = pl.DataFrame(session.run(parts.toArrow, "anonymizing blocks"))
    raise_first(table["error"])
    return table.sort("block")


def raise_first(errors: pl.Series) -> None:
    told = errors.drop_nulls().sort()
    if len(told):
        raise InputError(told[0])


def _united(method: Method, parts: pl.DataFrame, size: int) -> Anonymized:
    blocks = Blocks(size, int(parts["log_users"].sum()), digest_of(parts["digest"].to_list()))
    return united(method, [unpacked(row, method.claim()) for row in parts.iter_rows(named=True)], blocks)


# What is below runs on the workers.


@lru_cache(maxsize=1)
def _method_of(task: Task) -> Method:
    """The method as this worker has it; one with another program or other knowledge would make another release."""
    method = make_method(task.method, dict(task.settings), task.knowledge)
    if code_digest(method) != task.code:
        raise InputError("a worker has another version of Shoal: install the same on all of them")
    if tuple(sorted(method.knowledge.digests.items())) != task.digests:
        raise InputError("a worker has another taxonomy, dictionary, directory or WordNet: put the same there")
    return method


def log_of_block(table: Any, people: PeopleKind) -> QueryLog:
    return block_log(pl.DataFrame(table).select("user", "query", "time", "click"), people)


def _anonymized(key: Any, table: Any, task: Task, shared: pl.DataFrame | None) -> Any:
    block = key[0].as_py()
    try:
        log = log_of_block(table, task.people)
        return as_arrow(packed(block, log, anonymize_block(_method_of(task), log, shared, task.seed, block)))
    except InputError as error:  # not a fault of the worker, so that trying again would not help
        return as_arrow(failed(block, str(error)))


def _block_counts(key: Any, table: Any, task: Task) -> Any:
    try:
        method = _method_of(task)
        assert isinstance(method, CountedMethod)
        seed = block_seed(method.info, task.seed, key[0].as_py())
        found = method.count_block(log_of_block(table, task.people), seed)
        return as_arrow(found.with_columns(pl.lit(None, dtype=pl.String).alias("error")))
    except InputError as error:
        return as_arrow(pl.DataFrame({"kind": ["error"], "key": [""], "count": [0], "error": [str(error)]}))
