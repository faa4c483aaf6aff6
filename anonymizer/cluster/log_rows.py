"""How does Spark read a log? Lines or Parquet from any of its storages, by the parser that one machine has.

It is read twice: for its users, who are cut into blocks, and for its rows with their blocks. Parsing takes about a
microsecond a row, and no worker need keep the rows in between.
"""

from bisect import bisect_right
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from hashlib import sha256
from typing import Any

import polars as pl

from shoal.corpus.errors import InputError
from shoal.corpus.logs import files_of
from shoal.corpus.logs.aol import LogFormat
from shoal.corpus.logs.columns import Columns, Layout, find_layout, need_columns
from shoal.corpus.logs.files import Block, codec
from shoal.corpus.logs.rows import Parsed, parse
from shoal.corpus.logs.tables import parse_frame
from shoal.corpus.querylog import PeopleKind

_ROWS = "user string, query string, time bigint, click string, block int"
_USERS = "reason string, digest binary, count bigint"
_LOOKED_AT = 20  # lines, to find the columns
_PARQUET = "PAR1"
_MARK = "\ufeff"


Reader = Callable[[Iterator[Any]], Iterator[Parsed]]  # of batches


@dataclass(frozen=True)
class ClusterLog:
    """A log that lies on a cluster, and how a worker reads it."""

    source: Any  # a DataFrame of lines, or of the columns of Parquet
    read: Reader
    people: PeopleKind
    understood: str

    def users(self) -> Any:
        """A DataFrame of users by their digests, with numbers of rows; those that cannot be read have a reason."""
        from pyspark.sql import functions as f

        found = self.source.mapInArrow(partial(_users, read=self.read), _USERS)
        return found.groupBy("reason", "digest").agg(f.sum("count").alias("count"))

    def rows(self, begins: list[bytes]) -> Any:
        """A DataFrame of the rows with their block, where these are the digests with which all but the first begin."""
        return self.source.mapInArrow(partial(_rows, read=self.read, begins=begins), _ROWS)


def read_rows(spark: Any, where: str, format: LogFormat) -> ClusterLog:
    """The log at a path or an address of one of Spark's storages; nothing but its first lines is read yet."""
    if format.encoding and codec(format.encoding) != "utf-8":
        raise InputError(f"--encoding {format.encoding}: a cluster reads UTF-8; write the log anew in it")
    places = _places(where)
    head = [row["value"].removeprefix(_MARK).removesuffix("\r") for row in _lines(spark, places).take(_LOOKED_AT)]
    if head and head[0].startswith(_PARQUET):
        return _of_parquet(spark, places, format)
    return _of_text(spark, places, [line for line in head if line.strip()], format)


def _places(where: str) -> list[str]:
    if "://" in where:
        return [where]
    found = files_of(where)
    for path in found:
        if not path.exists():
            raise InputError(f"no log at {path}: give a file, a folder, or an address such as hdfs://host/log.parquet")
        if path.suffix == ".zst":
            raise InputError(f"{path.name}: Spark reads no .zst: unpack it, or pack it as .gz")
    return [path.resolve().as_uri() for path in found]


def _lines(spark: Any, places: list[str]) -> Any:
    return spark.read.option("lineSep", "\n").text(places)


def _of_text(spark: Any, places: list[str], head: list[str], format: LogFormat) -> ClusterLog:
    layout = find_layout(head, format.columns or {}, places[0])
    heading = head[0].encode() if layout.has_heading else None
    lines = _lines(spark, places).selectExpr("cast(value as binary) as line")
    read = partial(_parsed_lines, layout=layout, heading=heading)
    return ClusterLog(lines, read, layout.columns.people, str(layout))


def _of_parquet(spark: Any, places: list[str], format: LogFormat) -> ClusterLog:
    table = spark.read.parquet(*places)
    columns = need_columns(table.columns, format.columns or {}, places[0])
    held = table.select(*(f"`{columns.names[place]}`" for place in columns.place.values()))
    return ClusterLog(held, partial(_parsed_frames, columns=columns), columns.people, f"Parquet; {columns}")


# What is below runs on the workers.


def _parsed_lines(batches: Iterator[Any], layout: Layout, heading: bytes | None) -> Iterator[Parsed]:
    for batch in batches:
        lines = [line.removesuffix(b"\r").removeprefix(_MARK.encode()) for line in batch.column(0).to_pylist()]
        kept = [line for line in lines if line != heading]
        text = b"\n".join(kept)
        if text.strip():
            yield parse(Block(text, 2, len(kept), 0), layout)


def _parsed_frames(batches: Iterator[Any], columns: Columns) -> Iterator[Parsed]:
    for batch in batches:
        frame = pl.DataFrame(batch)
        if len(frame):
            yield parse_frame(frame, columns, "the log")


def _users(batches: Iterator[Any], read: Reader) -> Iterator[Any]:
    for good, bad in read(batches):
        users = good.group_by("user").agg(pl.len().cast(pl.Int64).alias("count"))
        digests = pl.Series("digest", [_digest(name) for name in users["user"].to_list()], dtype=pl.Binary)
        yield from as_arrow(users.select(pl.lit("").alias("reason"), digests, "count")).to_batches()
        if len(bad):
            reasons = bad.rows.group_by("reason").agg(pl.len().cast(pl.Int64).alias("count"))
            nobody = pl.lit(None, dtype=pl.Binary).alias("digest")
            yield from as_arrow(reasons.select("reason", nobody, "count")).to_batches()


def _rows(batches: Iterator[Any], read: Reader, begins: list[bytes]) -> Iterator[Any]:
    for good, _ in read(batches):
        names = good["user"].unique()
        blocks = pl.Series("block", [bisect_right(begins, _digest(name)) for name in names.to_list()], dtype=pl.Int32)
        rows = good.join(pl.DataFrame([names, blocks]), on="user").select(
            "user", "query", pl.col("when").dt.epoch("s").cast(pl.Int64).alias("time"),
            pl.col("click").fill_null(""), "block",
        )  # fmt: skip
        yield from as_arrow(rows).to_batches()


def _digest(name: str) -> bytes:
    return sha256(name.encode()).digest()


def as_arrow(frame: pl.DataFrame) -> Any:
    """A frame as Spark takes it, whose strings and bytes have short offsets."""
    import pyarrow as pa

    table = frame.to_arrow(compat_level=pl.CompatLevel.oldest())
    short = {pa.large_string(): pa.string(), pa.large_binary(): pa.binary()}
    return table.cast(pa.schema([(field.name, short.get(field.type, field.type)) for field in table.schema]))
