"""How is a table read as a log? Parquet files, frames of pandas, polars and Arrow, and lists of tuples."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from shoal.corpus.errors import InputError
from shoal.corpus.logs.columns import AOL_COLUMNS, ROLES, Columns, need_columns
from shoal.corpus.logs.files import refuse_bomb
from shoal.corpus.logs.rows import Parsed, Rejected, sorted_out, text_of

BATCH_ROWS = 250_000
_LEAST_BYTES = 4  # of a row of text: a user, a query and what stands between them
_READABLE = (pl.String, pl.Categorical, pl.Enum, pl.Datetime, pl.Date, pl.Null)


def parquet_columns(path: Path, given: Mapping[str, str]) -> Columns:
    try:
        return need_columns(list(pl.read_parquet_schema(path)), given, path.name)
    except (pl.exceptions.PolarsError, OSError) as error:
        raise _broken(path, error) from error


def parse_parquet(path: Path, columns: Columns) -> Iterator[tuple[Parsed, int]]:
    """The rows of a Parquet file, some at a time, and the bytes of the file that they are worth."""
    size, unpacked = path.stat().st_size, 0
    try:
        table = pl.scan_parquet(path).select([columns.names[place] for place in columns.place.values()])
        rows = int(table.select(pl.len()).collect().item())
        refuse_bomb(path, rows * _LEAST_BYTES, size)
        for start in range(0, rows, BATCH_ROWS):
            batch = table.slice(start, BATCH_ROWS).collect()
            unpacked += int(batch.estimated_size())
            refuse_bomb(path, unpacked, size)
            yield parse_frame(batch, columns, path.name, start + 1), size * (start + len(batch)) // rows
    except (pl.exceptions.PolarsError, OSError) as error:
        raise _broken(path, error) from error


def _broken(path: Path, error: Exception) -> InputError:
    reason = (str(error).splitlines() or [""])[0][:100]
    return InputError(f"{path.name} cannot be read ({reason}): is it a whole Parquet file?")


def parse_frame(frame: pl.DataFrame, columns: Columns, where: str, first: int = 1) -> Parsed:
    """The rows of a polars frame, numbered from `first`."""
    names = {role: columns.names[place] for role, place in columns.place.items()}
    texts = [_text(frame[name], where).alias(role) for role, name in names.items()]
    rows = pl.DataFrame(texts).with_columns(pl.lit(None, dtype=pl.String).alias(r) for r in ROLES if r not in names)
    line = pl.concat_str(list(names), separator="\t", ignore_nulls=True).str.replace_all("[\r\n]", " ")
    rows = rows.with_columns(line.alias("line"), pl.lit(None, dtype=pl.String).alias("fault"))
    good, bad = sorted_out(rows.with_row_index("line_number", first))
    return good, Rejected(bad)


def _text(column: pl.Series, where: str) -> pl.Series:
    """A column as the text of a file; whole numbers are the same however they are kept."""
    if column.dtype.is_float() and (column.drop_nulls().drop_nans() % 1 == 0).all():
        column = column.fill_nan(None).cast(pl.Int64)
    if column.dtype == pl.Datetime and column.dtype.time_zone is not None:  # type: ignore[attr-defined]
        column = column.dt.convert_time_zone("UTC").dt.replace_time_zone(None)
    if not column.dtype.is_numeric() and not isinstance(column.dtype, _READABLE):
        raise InputError(f"{where}: the column {column.name} holds {column.dtype}: expected text, numbers or times")
    return column.cast(pl.String)


def as_frame(data: Any) -> pl.DataFrame:
    """A polars frame of what people have: a frame of polars, Arrow or pandas, a table of columns, a list of rows.

    Tuples are user, query, time, rank, url, as far as they go.
    """
    if isinstance(data, pl.LazyFrame):
        return data.collect()
    if isinstance(data, pl.DataFrame):
        return data
    if hasattr(data, "iloc") and hasattr(data, "columns"):  # pandas, which may be there without Arrow
        return pl.DataFrame({str(name): _values(data[name]) for name in data.columns})
    if hasattr(data, "__arrow_c_stream__"):
        return pl.DataFrame(data)
    if isinstance(data, Mapping):
        return pl.DataFrame({str(name): _column(list(values)) for name, values in data.items()})
    return _of_rows(list(data)) if hasattr(data, "__iter__") else _no_frame(data)


def _values(column: Any) -> pl.Series:
    """A pandas column: numbers as they are, the rest as text, with nothing where pandas says that it is missing."""
    if getattr(column.dtype, "kind", "") in "iuf" and isinstance(getattr(column.dtype, "itemsize", None), int):
        return pl.Series(column.to_numpy())
    return _column([None if missing else value for value, missing in zip(column, column.isna(), strict=True)])


def _column(values: Sequence[object]) -> pl.Series:
    try:
        return pl.Series([text_of(value) for value in values], dtype=pl.String)
    except TypeError as error:
        raise InputError(f"the frame cannot be read: {error}") from error


def _of_rows(rows: Sequence[Any]) -> pl.DataFrame:
    """Dictionaries by their keys; tuples as AOL has its columns."""
    if rows and all(isinstance(row, Mapping) for row in rows):
        names = list(dict.fromkeys(str(name) for row in rows for name in row))
        return pl.DataFrame({name: _column([row.get(name) for row in rows]) for name in names})
    if not rows or not all(isinstance(row, tuple | list) and 2 <= len(row) <= len(AOL_COLUMNS) for row in rows):
        return _no_frame(rows)
    width = max(map(len, rows))
    return pl.DataFrame(
        {
            name: _column([row[i] if i < len(row) else None for row in rows])
            for i, name in enumerate(AOL_COLUMNS[:width])
        }
    )


def _no_frame(data: object) -> pl.DataFrame:
    raise InputError(
        f"{data!r:.60} is no log: give a path, a frame of pandas, polars or Arrow, or a list of (user, query, time, "
        "rank, url) tuples with at least a user and a query"
    )
