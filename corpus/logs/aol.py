"""How is a log read? Files block by block, in the AOL format or another; rows that cannot be read are kept apart."""

import os
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import polars as pl

from shoal.corpus.errors import InputError
from shoal.corpus.logs.codes import Encoder
from shoal.corpus.logs.columns import AOL_COLUMNS, EXPECTED, PEOPLE_HEADING, Layout, find_layout
from shoal.corpus.logs.files import Block, blocks, first_lines, is_parquet
from shoal.corpus.logs.rows import Parsed, Rejected, joined, parse
from shoal.corpus.logs.tables import parquet_columns, parse_parquet
from shoal.corpus.progress import Progress, silent
from shoal.corpus.querylog import NO_TIME, PEOPLE, PeopleKind, QueryLog, counted


@dataclass(frozen=True)
class LogFormat:
    """What is said of a file from outside: names of its columns by their roles, and its encoding."""

    columns: Mapping[str, str] | None = None
    encoding: str = ""


FOUND = LogFormat()  # nothing is said: columns are found by their names


def read_log(
    path: str | Path | Sequence[Path],
    *,
    format: LogFormat = FOUND,
    strict: bool = False,
    progress: Progress = silent,
) -> tuple[QueryLog, Rejected]:
    """The log in one file or several, and the rows that were rejected (with `strict`, the first is an error)."""
    paths = [Path(path)] if isinstance(path, str | Path) else list(path)
    readings = [_Reading(one, format) for one in paths]
    encoder, parts = Encoder(), []
    total, before = sum(one.stat().st_size for one in paths), 0
    for reading in readings:
        for (good, bad), done in reading.blocks():
            encoder.add(good)
            refuse_first(bad, f"{reading.path.name}, line", strict)
            parts.append(_in_file(reading.path, bad) if len(paths) > 1 else bad)
            progress(before + done, total, "reading the log")
        before += reading.path.stat().st_size
    apart = joined(parts, "; ".join(dict.fromkeys(reading.understood for reading in readings)))
    if encoder.rows == 0:
        raise InputError(nothing_read(paths[0].name, apart))
    return understood(encoder.log(max((reading.people for reading in readings), key=PEOPLE.index)), apart)


def understood(log: QueryLog, apart: Rejected) -> tuple[QueryLog, Rejected]:
    """The log, with what the reader says of it: queries, users, from when to when, and its columns."""
    times = log.time[log.time != NO_TIME]
    days = [str(np.datetime64(int(time), "s"))[:10] for time in (times.min(), times.max())] if len(times) else []
    span = f"from {days[0]} to {days[1]}" if days else "without times"
    said = f"{counted(len(log), 'query')} of {counted(len(log.users), 'user')}, {span} ({apart.understood})"
    return log, replace(apart, understood=said)


def refuse_first(bad: Rejected, where: str, strict: bool) -> None:
    if strict and len(bad):
        number, reason, _ = bad.rows.row(0)
        raise InputError(f"{where} {number}: {reason} (--strict stops at the first bad row)")


def nothing_read(name: str, rejected: Rejected) -> str:
    if len(rejected) == 0:
        return f"{name} is empty: a log has at least one row ({EXPECTED})"
    number, reason, _ = rejected.rows.row(0)
    return f"{name} holds no readable row; line {number}: {reason}; expected {EXPECTED}, or --columns"


def heading(people: PeopleKind) -> str:
    """The first line of a log that says who its users are."""
    return "\t".join([*AOL_COLUMNS, f"{PEOPLE_HEADING}{people}"])


def save_log(log: QueryLog, path: Path) -> None:
    """Write a log so that reading it gives the same one. It is for its owner only: it holds what people typed."""
    rows = log.frame()
    columns = {"user": "AnonID", "query": "Query", "time": "QueryTime", "click": "ClickURL"}
    if not rows["time"].null_count() < len(rows):
        del columns["time"]
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
        file.write(("\t".join([*columns.values(), f"{PEOPLE_HEADING}{log.people}"]) + "\n").encode())
        rows.select(*columns).write_csv(
            file, separator="\t", include_header=False, quote_style="never", datetime_format="%Y-%m-%d %H:%M:%S"
        )


def read_people(path: Path, format: LogFormat = FOUND) -> PeopleKind:
    """Who the users are, as the heading says; those of a file that says nothing are real."""
    return _Reading(path, format).people


class _Reading:
    """A file whose columns are known, before its rows are read."""

    def __init__(self, path: Path, format: LogFormat) -> None:
        if not path.is_file():
            raise InputError(f"no log at {path}: give a file, for example in the AOL format ({EXPECTED})")
        self.path, self._encoding, given = path, format.encoding, format.columns or {}
        self._layout: Layout | None = None
        if is_parquet(path):
            self._columns = parquet_columns(path, given)
            self.understood = f"Parquet; {self._columns}"
        else:
            self._layout = find_layout(first_lines(path, format.encoding), given, path.name)
            self._columns = self._layout.columns
            self.understood = str(self._layout)
        self.people = self._columns.people

    def blocks(self) -> Iterator[tuple[Parsed, int]]:
        """The rows of each block, and the bytes of the file read so far."""
        if self._layout is None:
            return parse_parquet(self.path, self._columns)
        return _parsed_ahead(blocks(self.path, self._encoding), self._layout)


def _in_file(path: Path, bad: Rejected) -> Rejected:
    """Of several files, the reason says which one."""
    reason = pl.format("{}: {}", pl.lit(path.name), "reason").alias("reason")
    return replace(bad, rows=bad.rows.with_columns(reason))


def _parsed_ahead(blocks: Iterable[Block], layout: Layout) -> Iterator[tuple[Parsed, int]]:
    """The rows of each block; while the caller works on one block, the next is parsed by another thread."""
    with ThreadPoolExecutor(1) as ahead:
        waiting: deque[tuple[Future[Parsed], int]] = deque()
        for block in blocks:
            waiting.append((ahead.submit(parse, block, layout), block.done))
            if len(waiting) > 1:
                parsed, done = waiting.popleft()
                yield parsed.result(), done
        for parsed, done in waiting:
            yield parsed.result(), done
