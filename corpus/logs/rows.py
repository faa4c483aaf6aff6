"""How do values become rows of a log? Times of any form read, bad rows kept apart with their line and reason."""

import csv
import json
import os
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from io import BytesIO
from pathlib import Path

import polars as pl

from shoal.corpus.logs.columns import PEOPLE_HEADING, ROLES, Layout, split_line
from shoal.corpus.logs.files import LONGEST_LINE, Block, guess_encoding

_TIME_FORMAT = "%Y-%m-%d %H:%M:%S"
_ISO = (
    r"^(?<day>\d{4}-\d\d-\d\d)(?:[T ](?<minute>\d\d:\d\d)(?<second>:\d\d)?(?:[.,]\d+)?)?"
    r" ?(?:(?<zulu>Z|UTC)|(?<sign>[+-])(?<hours>\d\d):?(?<minutes>\d\d))?$"
)
_EPOCH = r"^\d{9,19}(\.\d+)?$"
_LAST_EPOCH = 4_102_444_800  # 2100; a larger number counts milliseconds, or smaller parts
_PARTS = (1, 1_000, 1_000_000, 1_000_000_000)  # of a second, as epochs count them


@dataclass(frozen=True)
class Rejected:
    """The rows that could not be read: line numbers (from 1), reasons and lines; and how the rest was understood."""

    rows: pl.DataFrame  # line_number, reason, line
    understood: str = ""  # rows, users, time span, separator and columns
    damaged: int = 0  # bytes that are not UTF-8
    encoding: str = ""  # what they may be

    def __len__(self) -> int:
        return len(self.rows)

    def write(self, path: Path) -> None:
        """Write them for the owner of the log only: they hold what people typed."""
        with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
            self.rows.write_csv(file, separator="\t", quote_style="never")

    def reasons(self) -> dict[str, int]:
        """How many rows were rejected for each reason, the most frequent first."""
        counted = self.rows["reason"].value_counts(sort=True)
        return dict(zip(counted["reason"].to_list(), counted["count"].to_list(), strict=True))


Parsed = tuple[pl.DataFrame, Rejected]  # the rows that can be read (user, query, when, url), and the others


def joined(parts: Sequence[Rejected], understood: str) -> Rejected:
    """What is told of all blocks of a log."""
    rows = pl.concat([part.rows for part in parts]) if parts else no_rows()
    encoding = next((part.encoding for part in parts if part.encoding), "")
    return Rejected(rows, understood, sum(part.damaged for part in parts), encoding)


def no_rows() -> pl.DataFrame:
    return pl.DataFrame(schema={"line_number": pl.UInt32, "reason": pl.String, "line": pl.String})


def parse(block: Block, layout: Layout) -> Parsed:
    """The rows of a block of lines. Blank lines are neither good nor bad."""
    rows = whole_rows(block, layout)
    if rows is not None:
        rows = rows.select(pl.col("user", "query").str.strip_chars(), "when", "click")
        if not any((rows[name] == "").any() for name in ("user", "query")):
            return rows, Rejected(no_rows())
    return parse_lines(block, layout)


def whole_rows(block: Block, layout: Layout) -> pl.DataFrame | None:
    """The rows of a block that holds nothing but whole rows with a time, by the fast reader; None for any other.

    Users and queries are not stripped yet, so that one may be blank: who codes them strips each distinct one once.
    """
    text = _ends_alike(block.text)
    heading = block.first == 1 and layout.has_heading
    if not layout.separator or b"\r" in text or (layout.quoted and b"\t" in text):
        return None
    held = sum(not name.startswith(PEOPLE_HEADING) for name in layout.columns.names)
    schema: dict[str, type[pl.DataType]] = {str(place): pl.String for place in range(held)}
    if "rank" in layout.columns.place:
        schema[str(layout.columns.place["rank"])] = pl.Int64
    quote = '"' if layout.quoted else None
    try:
        rows = pl.read_csv(
            text,
            separator=layout.separator,
            quote_char=quote,
            has_header=False,
            schema=schema,
            skip_lines=heading,
        )
    except pl.exceptions.PolarsError:
        return None
    if len(rows) != block.lines - heading:
        return None
    rows = timed(rows.select(_roles(layout)))
    needed = ["user", "query", *(["when"] if "time" in layout.columns.place else [])]
    if any(rows[name].null_count() for name in needed):
        return None
    return rows


def _roles(layout: Layout) -> list[pl.Expr]:
    place = layout.columns.place
    nothing = pl.lit(None, dtype=pl.String)
    return [(pl.col(str(place[role])) if role in place else nothing).alias(role) for role in ROLES]


def _ends_alike(text: bytes) -> bytes:
    """Lines that end as ours do, not as those of other systems."""
    return text.replace(b"\r\n", b"\n").removesuffix(b"\r") if b"\r" in text else text


def parse_lines(block: Block, layout: Layout) -> Parsed:
    """The rows of a block, each line by itself."""
    text, first = _ends_alike(block.text), block.first
    if first == 1 and layout.has_heading:
        _, _, text = text.partition(b"\n")
        first = 2
    decoded, damaged, encoding = _decoded(text)
    lines = pl.read_lines(BytesIO(decoded), row_index_name="line_number", row_index_offset=first)
    lines = lines.filter(pl.col("line").str.strip_chars_end("\r") != "")
    if layout.separator and not layout.quoted:
        rows = _split(lines, layout)
    else:
        cut = _json_values if not layout.separator else _quoted_values
        values = [cut(line, layout) for line in lines["line"].to_list()]
        schema = {**dict.fromkeys(ROLES, pl.String), "fault": pl.String}
        rows = pl.concat([lines, pl.DataFrame(values, schema=schema, orient="row")], how="horizontal")
    good, bad = sorted_out(rows)
    return good, Rejected(bad, "", damaged, encoding)


def _decoded(text: bytes) -> tuple[bytes, int, str]:
    """The block in UTF-8, how many of its bytes are not, and what they may be."""
    try:
        text.decode()
        return text, 0, ""
    except UnicodeDecodeError:
        mended = text.decode(errors="replace")
        return mended.encode(), mended.count("\ufffd") - text.count("\ufffd".encode()), guess_encoding(text)


def _split(lines: pl.DataFrame, layout: Layout) -> pl.DataFrame:
    """Lines without quotes: as many values as the heading has, of which those after the time may be missing."""
    width = len(layout.columns.names)
    names = [*map(str, range(width)), "more"]
    line = pl.col("line").str.strip_chars_end("\r")
    fields = line.str.splitn(layout.separator, width + 1).struct.rename_fields(names).alias("fields")
    rows = lines.with_columns(fields).unnest("fields")
    whole = pl.col(str(_last(layout))).is_not_null() & pl.col("more").is_null()
    fault = pl.when(~whole).then(pl.lit(_wrong_number(width))).alias("fault")
    return rows.select("line_number", "line", *_roles(layout), fault)


def _last(layout: Layout) -> int:
    """The last value that no row may lack: user, query, and the time where there is one."""
    place = layout.columns.place
    return max(place[role] for role in ("user", "query", "time") if role in place)


def _wrong_number(width: int) -> str:
    return f"wrong number of columns, expected {width}"


def _quoted_values(line: str, layout: Layout) -> list[str | None]:
    try:
        values = split_line(line.removesuffix("\r"), layout)
    except csv.Error:
        return [*[None] * len(ROLES), "a quote that does not end on its line"]
    width, place = len(layout.columns.names), layout.columns.place
    if not _last(layout) < len(values) <= width:
        return [*[None] * len(ROLES), _wrong_number(width)]
    return [*(values[place[role]] if place.get(role, width) < len(values) else None for role in ROLES), None]


def _json_values(line: str, layout: Layout) -> list[str | None]:
    nothing: list[str | None] = [None] * len(ROLES)
    try:
        row = json.loads(line)
    except (ValueError, RecursionError):
        row = None
    if not isinstance(row, dict):
        return [*nothing, "no JSON object on one line"]
    names, place = layout.columns.names, layout.columns.place
    try:
        return [*(text_of(row.get(names[place[role]])) if role in place else None for role in ROLES), None]
    except TypeError as error:
        return [*nothing, str(error)]


def text_of(value: object) -> str | None:
    """A value of JSON, of a frame or of a tuple as the text of a file; whole numbers are the same however kept."""
    if value is None or isinstance(value, str):
        return value and value.encode(errors="replace").decode()  # half a letter, which JSON can hold, is none
    if isinstance(value, float):
        return None if value != value else str(int(value)) if value.is_integer() else repr(value)
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    if isinstance(value, date):
        return value.isoformat()
    raise TypeError(f"a value is neither text nor a number nor a time, but {type(value).__name__}")


def typed(rows: pl.DataFrame) -> pl.DataFrame:
    """With users and queries stripped, and `when`."""
    users = rows["user"] if _are_stripped(rows["user"]) else pl.col("user").str.strip_chars()
    return timed(rows.with_columns(users, pl.col("query").str.strip_chars()))


def timed(rows: pl.DataFrame) -> pl.DataFrame:
    """With `when`: the time as AOL writes it or, where that is none, otherwise."""
    when = pl.col("time").str.to_datetime(_TIME_FORMAT, strict=False, time_unit="ms", cache=False).alias("when")
    rows = rows.with_columns(when)
    if rows["when"].null_count() == rows["time"].null_count():
        return rows
    time = pl.col("time").str.strip_chars()
    return rows.with_columns(pl.coalesce("when", _iso(time), _epoch(time)).alias("when"))


def _are_stripped(users: pl.Series) -> bool:
    """Looked at once for all rows of a user that follow each other."""
    some = users.filter((users != users.shift()).fill_null(True))
    return bool((some == some.str.strip_chars()).all())


def _iso(time: pl.Expr) -> pl.Expr:
    """ISO 8601: with T or a blank, without seconds or hours, with a fraction, with Z or an offset; else UTC."""
    part = time.str.extract_groups(_ISO).struct
    clock = pl.concat_str(
        part.field("day"),
        pl.lit(" "),
        part.field("minute").fill_null("00:00"),
        part.field("second").fill_null(":00"),
    )
    offset = (part.field("hours").cast(pl.Int64) * 60 + part.field("minutes").cast(pl.Int64)).fill_null(0)
    signed = pl.when(part.field("sign") == "-").then(-offset).otherwise(offset)
    return clock.str.to_datetime(_TIME_FORMAT, strict=False, time_unit="ms") - pl.duration(minutes=signed)


def _epoch(time: pl.Expr) -> pl.Expr:
    """Seconds since 1970, or thousandths, millionths, billionths of them: by their size."""
    whole = pl.when(time.str.contains(_EPOCH)).then(time.str.extract(r"^(\d+)")).cast(pl.Int64, strict=False)
    seconds = pl.coalesce(pl.when(whole // part < _LAST_EPOCH).then(whole // part) for part in _PARTS)
    return pl.from_epoch(seconds, time_unit="s").cast(pl.Datetime("ms"))


def sorted_out(rows: pl.DataFrame) -> tuple[pl.DataFrame, pl.DataFrame]:
    """The good rows, and the bad ones with their reasons. `rows`: line_number, line, the roles as text, and a fault."""
    rows = typed(rows).with_columns(pl.coalesce("fault", _reason()).alias("reason"))
    bad = rows.filter(pl.col("reason") != "").select(pl.col("line_number").cast(pl.UInt32), "reason", "line")
    good = rows.filter(pl.col("reason") == "")
    return good.select("user", "query", "when", "click"), bad


def _reason() -> pl.Expr:
    """Why a row of the right number of columns cannot be read, or nothing."""
    rank, time = (pl.col(name).fill_null("").str.strip_chars() for name in ("rank", "time"))
    return (
        pl.when(pl.col("user").fill_null("") == "")
        .then(pl.lit("no user id"))
        .when(pl.col("query").fill_null("") == "")
        .then(pl.lit("no query"))
        .when((time != "") & pl.col("when").is_null())
        .then(pl.lit("time not of the form 2006-03-01 10:00:00, of ISO 8601 or seconds since 1970"))
        .when((rank != "") & rank.str.to_integer(strict=False).is_null())
        .then(pl.lit("item rank is not a whole number"))
        .when(pl.max_horizontal(pl.col("user", "query", "click").str.len_bytes()) > LONGEST_LINE)
        .then(pl.lit(f"a value longer than {LONGEST_LINE:,} bytes"))
        .when(pl.any_horizontal(pl.col("user", "query", "click").str.contains("[\t\r\n]")))
        .then(pl.lit("a tab or the end of a line in a value"))
        .otherwise(pl.lit(""))
    )
