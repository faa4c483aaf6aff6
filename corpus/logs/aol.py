"""How is a log read? Files block by block, in the AOL format or another; rows that cannot be read are kept apart.

How do the strings of a log become codes? Block by block, each distinct string held once, in the order they come.
"""

import os
import secrets
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import polars as pl

from shoal.corpus.errors import InputError
from shoal.corpus.logs.columns import AOL_COLUMNS, EXPECTED, PEOPLE_HEADING, Layout, find_layout
from shoal.corpus.logs.files import Block, blocks, first_lines, is_parquet
from shoal.corpus.logs.rows import Parsed, Rejected, joined, parse
from shoal.corpus.logs.tables import parquet_columns, parse_parquet
from shoal.corpus.progress import Progress, silent
from shoal.corpus.querylog import NO_TIME, PEOPLE, PeopleKind, QueryLog, counted, log_from_codes


class Encoder:
    """Takes the rows of a log some at a time, and gives the log."""

    def __init__(self) -> None:
        self.rows = 0
        self._users, self._queries, self._urls = Distinct(), Distinct(), Distinct()
        self._blocks: list[tuple[np.ndarray, ...]] = []

    def add(self, rows: pl.DataFrame) -> None:
        """Rows with a user, a query, when, and a url (none or empty: no click)."""
        if not len(rows):
            return
        self.rows += len(rows)
        user, query, url = (rows[name] for name in ("user", "query", "url"))
        seen = rows.select(
            (pl.col("user") != pl.col("user").shift()).fill_null(True).alias("start"),
            (pl.col("url") != "").fill_null(False).alias("clicked"),
            pl.col("when").dt.epoch("s").fill_null(NO_TIME).alias("time"),
        )
        start = np.flatnonzero(seen["start"])
        self._users.add(user.gather(start))  # once for all rows of a user that follow each other
        self._queries.add(query)
        clicked = seen["clicked"].to_numpy()
        named = clicked.copy()
        named[clicked.argmin()] = True  # no click is a name, too, where it comes first: digests of logs count it
        self._urls.add(url.filter(pl.Series(named)).fill_null(""))
        self._blocks.append((np.diff(start, append=len(rows)), clicked, named, seen["time"].to_numpy()))

    def log(self, people: PeopleKind) -> QueryLog:
        run, clicked, named, seconds = map(np.concatenate, zip(*self._blocks, strict=True))
        self._blocks.clear()
        users, user = self._users.coded()
        queries, query = self._queries.coded()
        urls, code = self._urls.coded()
        url = np.full(len(clicked), -1, dtype=np.int32)
        url[named] = code
        url[~clicked] = -1
        return log_from_codes(users, queries, urls, np.repeat(user, run), query, seconds, url, people)


class Distinct:
    """Strings as codes; each distinct one is held once.

    Numbers are sorted several times as fast as strings are looked up: equal strings are found by two hashes of 64 bits,
    with random seeds, so that nobody can write a log in which different ones have the same.
    """

    def __init__(self) -> None:
        self._seeds = secrets.randbits(63), secrets.randbits(63)
        self._names: list[pl.Series] = []
        self._hashes: list[tuple[np.ndarray, np.ndarray]] = []  # of the names
        self._codes: list[np.ndarray] = []  # of each block, into its own names

    def add(self, strings: pl.Series) -> None:
        if not len(strings):
            return
        one, other = (strings.hash(seed).to_numpy() for seed in self._seeds)
        first, code = _coded(one, other)
        self._names.append(strings.gather(first))
        self._hashes.append((one[first], other[first]))
        self._codes.append(code)

    def coded(self) -> tuple[pl.Series, np.ndarray]:
        """The distinct strings in the order in which they came, and each string as its place among them."""
        first, place = _coded(*map(np.concatenate, zip(*self._hashes, strict=True)))
        names = pl.concat(self._names).gather(first)
        places = np.split(place, np.cumsum([len(some) for some in self._names])[:-1])
        code = np.concatenate([among[code] for among, code in zip(places, self._codes, strict=True)])
        for kept in (self._names, self._hashes, self._codes):
            kept.clear()
        return names, code


def _coded(hashes: np.ndarray, others: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Where each distinct pair of hashes comes first, ascending, and each pair as its place among these."""
    order = np.argsort(hashes)
    one, other = hashes[order], others[order]
    if ((one[1:] == one[:-1]) & (other[1:] != other[:-1])).any():  # two strings meet in one hash: hardly ever
        order = np.lexsort((others, hashes))
        one, other = hashes[order], others[order]
    new = np.ones(len(order), dtype=bool)
    new[1:] = (one[1:] != one[:-1]) | (other[1:] != other[:-1])
    first = np.minimum.reduceat(order, np.flatnonzero(new))
    by_first = np.argsort(first)
    place = np.empty(len(first), dtype=np.int32)
    place[by_first] = np.arange(len(first), dtype=np.int32)
    code = np.empty(len(order), dtype=np.int32)
    code[order] = place[np.cumsum(new) - 1]
    return first[by_first], code


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
