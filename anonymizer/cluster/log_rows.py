"""How does Spark read a log? Lines or Parquet from any of its storages, by the parser that one machine has."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
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

ROWS = "user string, query string, time bigint, click string, reason string"
_LOOKED_AT = 20  # lines, to find the columns
_PARQUET = "PAR1"
_MARK = "\ufeff"


@dataclass(frozen=True)
class ClusterLog:
    """A log that lies on a cluster: its rows, those that could not be read among them with a reason."""

    rows: Any  # a DataFrame of ROWS
    people: PeopleKind
    understood: str


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
    rows = lines.mapInArrow(partial(_parsed_lines, layout=layout, heading=heading), ROWS)
    return ClusterLog(rows, layout.columns.people, str(layout))


def _parsed_lines(batches: Iterator[Any], layout: Layout, heading: bytes | None) -> Iterator[Any]:
    for batch in batches:
        lines = [line.removesuffix(b"\r").removeprefix(_MARK.encode()) for line in batch.column(0).to_pylist()]
        kept = [line for line in lines if line != heading]
        text = b"\n".join(kept)
        if text.strip():
            yield from _batches(parse(Block(text, 2, len(kept), 0), layout))


def _of_parquet(spark: Any, places: list[str], format: LogFormat) -> ClusterLog:
    table = spark.read.parquet(*places)
    columns = need_columns(table.columns, format.columns or {}, places[0])
    held = table.select(*(f"`{columns.names[place]}`" for place in columns.place.values()))
    rows = held.mapInArrow(partial(_parsed_frames, columns=columns), ROWS)
    return ClusterLog(rows, columns.people, f"Parquet; {columns}")


def _parsed_frames(batches: Iterator[Any], columns: Columns) -> Iterator[Any]:
    for batch in batches:
        frame = pl.DataFrame(batch)
        if len(frame):
            yield from _batches(parse_frame(frame, columns, "the log"))


def _batches(parsed: Parsed) -> Iterator[Any]:
    """Good rows without a reason, and bad ones with nothing else."""
    good, bad = parsed
    rows = good.select(
        "user", "query", pl.col("when").dt.epoch("s").cast(pl.Int64).alias("time"),
        pl.col("url").fill_null("").alias("click"), pl.lit("").alias("reason"),
    )  # fmt: skip
    yield from as_arrow(rows).to_batches()
    if len(bad):
        nothing = [pl.lit(None, dtype=kind).alias(name) for name, kind in rows.schema.items() if name != "reason"]
        yield from as_arrow(bad.rows.select(*nothing, "reason")).to_batches()


def as_arrow(frame: pl.DataFrame) -> Any:
    """A frame as Spark takes it, whose strings and bytes have short offsets."""
    import pyarrow as pa

    table = frame.to_arrow(compat_level=pl.CompatLevel.oldest())
    short = {pa.large_string(): pa.string(), pa.large_binary(): pa.binary()}
    return table.cast(pa.schema([(field.name, short.get(field.type, field.type)) for field in table.schema]))
