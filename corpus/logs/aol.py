"""How is a log read? Files in the AOL format, plain or .gz, block by block; rows that cannot be read are kept apart."""

import gzip
import os
from collections import deque
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import IO

import numpy as np
import polars as pl

from shoal.corpus.errors import InputError
from shoal.corpus.progress import Progress, silent
from shoal.corpus.querylog import NO_TIME, PEOPLE, PeopleKind, QueryLog, log_from_codes

BLOCK_BYTES = 32 << 20
COLUMNS = ("AnonID", "Query", "QueryTime", "ItemRank", "ClickURL")
# A sixth heading says who the users are. Other readers of the format take it for a column that no row fills.
PEOPLE_HEADING = "people: "
LONGEST_LINE = 1 << 20  # bytes
# A file that unpacks to more is made to fill a memory; logs of searches pack to a fifth, at most to a fiftieth.
MOST_UNPACKED = 200  # times the bytes of the file
ALWAYS_UNPACKED = 64 << 20
_FIELDS = ("user", "query", "moment", "rank", "url")
_TIME_FORMAT = "%Y-%m-%d %H:%M:%S"


@dataclass(frozen=True)
class Rejected:
    """The rows that could not be read: line numbers (from 1), reasons and the lines themselves."""

    rows: pl.DataFrame  # line_number, reason, line

    def __len__(self) -> int:
        return len(self.rows)

    def write(self, path: Path) -> None:
        """Write them for the owner of the log only: they hold what people typed."""
        with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
            self.rows.write_csv(file, separator="\t", quote_style="never")


def read_log(path: str | Path, *, strict: bool = False, progress: Progress = silent) -> tuple[QueryLog, Rejected]:
    """The log in a file of the AOL format, and the rows that were rejected (with `strict`, the first is an error)."""
    path = Path(path)
    people = read_people(path)
    encoder = _Encoder()
    rejected: list[pl.DataFrame] = []
    try:
        for good, bad, done in _parsed_ahead(path):
            encoder.add(good)
            rejected.append(bad)
            if strict and len(bad):
                number, reason, _ = bad.row(0)
                raise InputError(f"{path.name}, line {number}: {reason} (--strict stops at the first bad row)")
            progress(done, path.stat().st_size, "reading the log")
    except (EOFError, OSError) as error:
        raise _unreadable(path, error) from error
    apart = Rejected(pl.concat(rejected) if rejected else _no_rows())
    if encoder.rows == 0:
        raise InputError(_nothing_read(path, apart))
    return encoder.log(people), apart


def heading(people: PeopleKind) -> str:
    """The first line of a log that says who its users are."""
    return "\t".join([*COLUMNS, f"{PEOPLE_HEADING}{people}"])


def _unreadable(path: Path, error: Exception) -> InputError:
    return InputError(f"{path.name} cannot be read ({error}): is it whole, and plain text or .gz?")


def read_people(path: Path) -> PeopleKind:
    """Who the users are, as the heading says; those of a file that says nothing are real."""
    if not path.is_file():
        raise InputError(f"no log at {path}: give a file in the AOL format ({' <TAB> '.join(COLUMNS)})")
    try:
        with _opened(path) as (file, _):
            headings = file.readline(1000).decode(errors="replace").rstrip("\r\n").split("\t")
    except (EOFError, OSError) as error:
        raise _unreadable(path, error) from error
    said = next((one for one in headings[len(COLUMNS) :] if one.startswith(PEOPLE_HEADING)), None)
    if said is None or headings[0].lower() != COLUMNS[0].lower():
        return "real"
    for kind in PEOPLE:
        if said == PEOPLE_HEADING + kind:
            return kind
    choices = ", ".join(PEOPLE_HEADING + kind for kind in PEOPLE)
    raise InputError(f"{path.name}, line 1: {said[:40]!r} is unknown: write one of {choices}, or leave it out")


@contextmanager
def _opened(path: Path) -> Iterator[tuple[IO[bytes], IO[bytes]]]:
    """The text of a file, unpacked, and the file as it lies on the disk."""
    with open(path, "rb") as raw:
        yield (gzip.GzipFile(fileobj=raw) if path.suffix == ".gz" else raw), raw  # type: ignore[misc]


def _nothing_read(path: Path, rejected: Rejected) -> str:
    if len(rejected) == 0:
        return f"{path.name} is empty: a log has at least one row ({' <TAB> '.join(COLUMNS)})"
    number, reason, _ = rejected.rows.row(0)
    return f"{path.name} holds no readable row; line {number}: {reason}; expected {' <TAB> '.join(COLUMNS)}"


def _parsed_ahead(path: Path) -> Iterator[tuple[pl.DataFrame, pl.DataFrame, int]]:
    """The rows of each block; while the caller works on one block, the next is parsed by another thread."""
    with ThreadPoolExecutor(1) as ahead:
        waiting: deque[tuple[Future[tuple[pl.DataFrame, pl.DataFrame]], int]] = deque()
        for text, first, done in _blocks(path):
            waiting.append((ahead.submit(_parse, text, first), done))
            if len(waiting) > 1:
                parsed, done = waiting.popleft()
                yield *parsed.result(), done
        for parsed, done in waiting:
            yield *parsed.result(), done


def _blocks(path: Path) -> Iterator[tuple[bytes, int, int]]:
    """Blocks of whole lines in UTF-8, the number of their first line, and the bytes of the file read so far."""
    with _opened(path) as (file, raw):
        next_line, unpacked = 1, 0
        while text := file.read(BLOCK_BYTES) + (rest := file.readline(LONGEST_LINE)):
            unpacked += len(text)
            _refuse_what_is_no_log(path, text, rest, unpacked, raw.tell(), next_line)
            yield text.removesuffix(b"\n"), next_line, raw.tell()
            next_line += text.count(b"\n")


def _refuse_what_is_no_log(path: Path, text: bytes, rest: bytes, unpacked: int, packed: int, line: int) -> None:
    if b"\0" in text:
        raise InputError(f"{path.name} is not text: give a log in the AOL format, plain or .gz")
    if len(rest) == LONGEST_LINE and not rest.endswith(b"\n"):
        number = line + text.count(b"\n")
        raise InputError(f"{path.name}, line {number} is longer than {LONGEST_LINE:,} bytes: a row holds one query")
    if unpacked > max(ALWAYS_UNPACKED, MOST_UNPACKED * packed):
        most = f"more than {MOST_UNPACKED} times its size"
        raise InputError(f"{path.name} unpacks to {most}: if it is a log after all, unpack it first")


def _in_utf8(text: bytes) -> bytes:
    try:
        text.decode()
        return text
    except UnicodeDecodeError:
        return text.decode(errors="replace").encode()


def _parse(text: bytes, first: int) -> tuple[pl.DataFrame, pl.DataFrame]:
    """The rows of a block that can be read, and the others with their reasons. Blank lines are neither."""
    if first == 1 and text[:7].lower() == b"anonid\t":
        _, _, text = text.partition(b"\n")
        first = 2
    rows = _parse_clean(text)
    return (rows, _no_rows()) if rows is not None else _parse_line_by_line(text, first)


def _parse_clean(text: bytes) -> pl.DataFrame | None:
    """The rows of a block that holds nothing but whole rows with a time, by the fast reader; None for any other."""
    if b"\r" in text or not text:
        return None
    schema = dict.fromkeys(_FIELDS, pl.String)
    try:
        rows = pl.read_csv(BytesIO(text), separator="\t", quote_char=None, has_header=False, schema=schema)
    except pl.exceptions.PolarsError:
        return None
    if len(rows) != text.count(b"\n") + 1:
        return None
    rows = _typed(rows)
    whole = pl.col("user", "query", "when").is_not_null().all()
    told = (pl.col("user", "query") != "").all().name.suffix(" told")
    ranked = (pl.col("rank").is_null() | pl.col("rank").str.to_integer(strict=False).is_not_null()).all()
    clean = all(rows.select(whole, told, ranked).row(0))
    return rows.select("user", "query", "when", pl.col("url").fill_null("")) if clean else None


def _parse_line_by_line(text: bytes, first: int) -> tuple[pl.DataFrame, pl.DataFrame]:
    lines = pl.read_lines(BytesIO(_in_utf8(text)), row_index_name="line_number", row_index_offset=first)
    line = pl.col("line").str.strip_chars_end("\r")
    fields = line.str.splitn("\t", 6).struct.rename_fields([*_FIELDS, "more"]).alias("fields")
    rows = _typed(lines.filter(line != "").with_columns(fields).unnest("fields"))
    columns = pl.col("moment").is_not_null() & pl.col("more").is_null()
    reason = pl.when(columns).then(_reason()).otherwise(pl.lit("wrong number of columns, expected 5"))
    rows = rows.with_columns(reason.alias("reason"))
    bad = rows.filter(pl.col("reason") != "").select("line_number", "reason", "line")
    good = rows.filter(pl.col("reason") == "")
    return good.select("user", "query", "when", pl.col("url").fill_null("")), bad


def _typed(rows: pl.DataFrame) -> pl.DataFrame:
    when = pl.col("moment").str.to_datetime(_TIME_FORMAT, strict=False, time_unit="ms").alias("when")
    return rows.with_columns(pl.col("user", "query").str.strip_chars(), when)


def _reason() -> pl.Expr:
    """Why a row of the right number of columns cannot be read, or nothing."""
    rank, moment = pl.col("rank").fill_null(""), pl.col("moment").fill_null("")
    return (
        pl.when(pl.col("user") == "")
        .then(pl.lit("no user id"))
        .when(pl.col("query") == "")
        .then(pl.lit("no query"))
        .when((moment != "") & pl.col("when").is_null())
        .then(pl.lit(f"time not of the form {_TIME_FORMAT}"))
        .when((rank != "") & rank.str.to_integer(strict=False).is_null())
        .then(pl.lit("item rank is not a whole number"))
        .otherwise(pl.lit(""))
    )


def _no_rows() -> pl.DataFrame:
    return pl.DataFrame(schema={"line_number": pl.UInt32, "reason": pl.String, "line": pl.String})


class _Encoder:
    """Turns blocks of strings into codes as they come, so that each distinct string is held once."""

    def __init__(self) -> None:
        self.rows = 0
        self._kinds = {name: pl.Categories.random() for name in ("user", "query", "url")}
        self._blocks: list[pl.DataFrame] = []

    def add(self, rows: pl.DataFrame) -> None:
        self.rows += len(rows)
        codes = [pl.col(name).cast(pl.Categorical(kind)) for name, kind in self._kinds.items()]
        seconds = pl.col("when").dt.epoch("s").fill_null(NO_TIME).alias("time")
        self._blocks.append(rows.select(*codes, seconds, (pl.col("url") != "").alias("clicked")))

    def log(self, people: PeopleKind) -> QueryLog:
        table = pl.concat(self._blocks, rechunk=True)
        self._blocks.clear()
        users, user = self._renumber("user", table)
        queries, query = self._renumber("query", table)
        urls, url = self._renumber("url", table)
        time = table["time"].to_numpy()
        return log_from_codes(users, queries, urls, user, query, time, np.where(table["clicked"], url, -1), people)

    def _renumber(self, name: str, table: pl.DataFrame) -> tuple[pl.Series, np.ndarray]:
        """Codes in the order of first appearance, whatever order the threads met the strings in."""
        codes = table[name].to_physical().to_numpy()
        first = _first_positions(codes)
        new = np.zeros(int(codes.max()) + 1, dtype=np.int32)
        new[codes[first]] = np.arange(len(first), dtype=np.int32)
        return table[name].gather(first).cast(pl.String), new[codes]


def _first_positions(codes: np.ndarray) -> np.ndarray:
    """Where each code appears first, ascending. Codes are nearly always handed out in this very order."""
    steps = np.diff(np.maximum.accumulate(codes), prepend=-1)
    if steps.max() <= 1:
        return np.flatnonzero(steps)
    first = np.full(int(codes.max()) + 1, -1)
    first[codes[::-1]] = np.arange(len(codes) - 1, -1, -1)  # of several values for one code the last one stays
    return np.sort(first[first >= 0])
