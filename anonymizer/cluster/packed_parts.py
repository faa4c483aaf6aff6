"""How does the release of a block travel from a worker? As tables in bytes, which are no program when they are read."""

from io import BytesIO
from typing import Any

import numpy as np
import polars as pl
from scipy.sparse import csr_array

from shoal.anonymizer.base import Anonymized, Assignment, Catalogue, Claim, Release, ReleasedQueries, Suppressed
from shoal.anonymizer.publish import pseudonyms
from shoal.corpus.keyed_hash import read_key
from shoal.corpus.querylog import QueryLog

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
