"""How does a large release lie on disk? Its profiles and queries as Parquet, in groups of rows, instead of text.

As of the text, whatever is malformed is an error: an adversary may have written it.
"""

from pathlib import Path

import numpy as np
import polars as pl
from scipy.sparse import csr_array

from shoal.anonymizer.base import Release, ReleasedQueries
from shoal.anonymizer.manifest import LARGEST
from shoal.corpus.errors import InputError
from shoal.corpus.logs.files import refuse_bomb

LARGE = 10_000_000  # weights of profiles, or released queries, from which on a file is a table
_ROWS = 100_000  # of a group, which a reader can take alone
_PROFILES = pl.Schema(
    {
        "id": pl.String(),
        "users": pl.Int64(),
        "terms": pl.List(pl.String()),
        "weights": pl.List(pl.Float64()),
        "generalized": pl.List(pl.String()),
    }
)
_QUERIES = pl.Schema({"pseudonym": pl.String(), "query": pl.String(), "count": pl.Int64(), "degree": pl.Int64()})
_REMADE = "make the release again"


def write_profiles_table(release: Release, path: Path) -> None:
    """A row per profile. Weights have the digits that they have as text."""
    weights, labels = release.weights, pl.Series(release.labels, dtype=pl.String)
    different, place = np.unique(weights.data, return_inverse=True)
    written = np.array([float(f"{weight:.9g}") if weight % 1 else weight for weight in different.tolist()])
    cells = pl.DataFrame(
        {
            "row": np.repeat(np.arange(len(release)), np.diff(weights.indptr)),
            "terms": labels.gather(weights.indices),
            "weights": written[place],
            "general": release.generalized[weights.indices],
        }
    )
    found = cells.group_by("row", maintain_order=True).agg(
        "terms", "weights", pl.col("terms").filter("general").alias("generalized")
    )
    rows = pl.DataFrame({"row": np.arange(len(release)), "id": release.pseudonyms, "users": release.users})
    lists = ("terms", "weights", "generalized")
    table = rows.join(found, on="row", how="left").sort("row").with_columns(pl.col(lists).fill_null([]))
    table.select(*_PROFILES).cast(_PROFILES).write_parquet(path, row_group_size=_ROWS)


def read_profiles_table(path: Path) -> Release:
    table = _read(path, _PROFILES)
    lengths = table.select(pl.col("terms").list.len() == pl.col("weights").list.len()).to_series()
    unique = pl.col("terms", "generalized").list.n_unique() == pl.col("terms", "generalized").list.len()
    subset = pl.col("generalized").list.set_difference("terms").list.len() == 0
    if not lengths.all() or not all(table.select(unique.all()).row(0)) or not table.select(subset.all()).item():
        raise InputError(f"{path.name}: a profile has not one weight for each of its terms: {_REMADE}")
    terms, weights = table["terms"].explode(empty_as_null=False), table["weights"].explode(empty_as_null=False)
    if (terms == "").any() or not ((weights > 0) & (weights < LARGEST)).all() or not (table["users"] >= 1).all():
        raise InputError(f"{path.name}: a term is empty, or a number is not above 0 or too large: {_REMADE}")
    labels = terms.unique(maintain_order=True)
    indices = terms.replace_strict(labels, np.arange(len(labels)), return_dtype=pl.Int64).to_numpy()
    general = _flags(table, labels, path)
    indptr = np.concatenate([[0], table["terms"].list.len().cum_sum().to_numpy()]).astype(np.int64)
    cells = csr_array((weights.to_numpy(), indices, indptr), shape=(len(table), len(labels)))
    return Release(table["id"].to_list(), table["users"].to_numpy(), labels.to_list(), general, cells)


def _flags(table: pl.DataFrame, labels: pl.Series, path: Path) -> np.ndarray:
    """Which labels are generalized: everywhere, or nowhere."""
    terms = table["terms"].explode(empty_as_null=False).value_counts(name="rows").rename({"terms": "label"})
    flagged = (
        table["generalized"].explode(empty_as_null=False).value_counts(name="flags").rename({"generalized": "label"})
    )
    both = terms.join(flagged, on="label", how="left").with_columns(pl.col("flags").fill_null(0))
    if not both.select(((pl.col("flags") == 0) | (pl.col("flags") == pl.col("rows"))).all()).item():
        raise InputError(f"{path.name}: a label is generalized in some profiles, but not in all: {_REMADE}")
    general = both.filter(pl.col("flags") > 0)["label"]
    return labels.is_in(general.implode()).to_numpy()


def write_queries_table(names: pl.Series, queries: ReleasedQueries, path: Path) -> None:
    """A row per released query. Nothing is quoted: no spreadsheet takes a value of Parquet for a formula."""
    table = {"pseudonym": names, "query": queries.query, "count": queries.count, "degree": queries.degree}
    pl.DataFrame(table, schema=_QUERIES).write_parquet(path, row_group_size=_ROWS)


def read_queries_table(path: Path) -> pl.DataFrame:
    table = _read(path, _QUERIES)
    if not table.select((pl.col("count", "degree") >= 1).all()).to_series().all():
        raise InputError(f"{path.name}: a count or degree is no whole number from 1: {_REMADE}")
    return table


def _read(path: Path, schema: pl.Schema) -> pl.DataFrame:
    """A table of these very columns, without an empty cell."""
    try:
        if dict(pl.read_parquet_schema(path)) != dict(schema):
            raise ValueError("its columns are others")
        table = pl.read_parquet(path)
        refuse_bomb(path, int(table.estimated_size()), path.stat().st_size)
        if any(table.null_count().row(0)):
            raise ValueError("a cell is empty")
        return table
    except (OSError, ValueError, pl.exceptions.PolarsError) as error:
        reason = str(error).splitlines()[0][:100]
        raise InputError(f"{path.name} is no table of {', '.join(schema)} ({reason}): {_REMADE}") from error
