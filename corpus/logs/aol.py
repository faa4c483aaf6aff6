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

from shoal.corpus.columns import starts
from shoal.corpus.errors import InputError
from shoal.corpus.logs.columns import AOL_COLUMNS, EXPECTED, PEOPLE_HEADING, Layout, find_layout
from shoal.corpus.logs.files import Block, blocks, first_lines, is_parquet
from shoal.corpus.logs.rows import Rejected, joined, no_rows, parse_lines, whole_rows
from shoal.corpus.logs.tables import parquet_columns, parse_parquet
from shoal.corpus.progress import Progress, silent
from shoal.corpus.querylog import NO_TIME, PEOPLE, PeopleKind, QueryLog, counted, log_from_codes


@dataclass(frozen=True, eq=False)
class Codes:
    """Strings as places among their distinct ones, which stand in the order in which they come."""

    names: pl.Series
    hashes: tuple[np.ndarray, np.ndarray]  # of the names
    code: np.ndarray  # of each string


@dataclass(frozen=True, eq=False)
class CodedRows:
    """The rows of a block: who asked what, when (in seconds), whether a click came of it, and on what."""

    users: Codes
    queries: Codes
    urls: Codes  # a code for each click; no click has a name among them, too
    seconds: np.ndarray
    clicked: np.ndarray

    def are_told(self) -> bool:
        """Whether each row has a user and a query that are more than blanks."""
        return not any((codes.names == "").any() for codes in (self.users, self.queries))


CodedBlock = tuple[CodedRows, Rejected]


class Encoder:
    """Takes the rows of a log some at a time, and gives the log."""

    def __init__(self) -> None:
        self.rows = 0
        self._users, self._queries, self._urls = Distinct(), Distinct(), Distinct()
        self._blocks: list[tuple[np.ndarray, np.ndarray]] = []

    def coded(self, rows: pl.DataFrame) -> CodedRows:
        """Rows with a user and a query, which are stripped here, when, and a click (none or empty: no click)."""
        seen = rows.select(
            (pl.col("click").str.len_bytes() > 0).fill_null(False).alias("clicked"),
            pl.col("when").dt.epoch("s").fill_null(NO_TIME).alias("time"),
        )
        users, queries = self._users.stripped(rows["user"]), self._queries.stripped(rows["query"])
        clicked = seen["clicked"].to_numpy()
        urls = self._clicks(rows["click"].filter(seen["clicked"]), clicked)
        return CodedRows(users, queries, urls, seen["time"].to_numpy(), clicked)

    def _clicks(self, urls: pl.Series, clicked: np.ndarray) -> Codes:
        """No click is a name, too, where the first row without one stands: digests of logs count it."""
        if clicked.all():
            return self._urls.codes(urls)
        first = int(clicked.argmin())
        codes = self._urls.codes(pl.concat([urls[:first], pl.Series([""]), urls[first:]]))
        return replace(codes, code=np.delete(codes.code, first))

    def add(self, rows: CodedRows) -> None:
        if not len(rows.seconds):
            return
        self.rows += len(rows.seconds)
        self._users.add(rows.users)
        self._queries.add(rows.queries)
        self._urls.add(rows.urls)
        self._blocks.append((rows.seconds, rows.clicked))

    def log(self, people: PeopleKind) -> QueryLog:
        seconds, clicked = map(np.concatenate, zip(*self._blocks, strict=True))
        self._blocks.clear()
        users, user = self._users.coded()
        queries, query = self._queries.coded()
        urls, code = self._urls.coded()
        url = np.full(len(seconds), -1, dtype=np.int32)
        url[np.flatnonzero(clicked)] = code
        return log_from_codes(users, queries, urls, user, query, seconds, url, people)


class Distinct:
    """Strings of a column as codes, block by block; each distinct one of a block is held once.

    Numbers are sorted several times as fast as strings are looked up: equal strings are found by two hashes of 64 bits,
    with random seeds, so that nobody can write a log in which different ones have the same.
    """

    def __init__(self) -> None:
        self._seeds = secrets.randbits(63), secrets.randbits(63)
        self._blocks: list[Codes] = []

    def add(self, codes: Codes) -> None:
        self._blocks.append(codes)

    def codes(self, strings: pl.Series) -> Codes:
        one, other = (strings.hash(seed).to_numpy() for seed in self._seeds)
        start = np.flatnonzero(starts(one, other))  # equal ones that follow each other are looked at once
        one, other = one.take(start), other.take(start)
        first, code = _coded(one, other)
        names = strings.gather(start.take(first))  # a copy: a filter would hold the memory of all strings
        hashes = one.take(first), other.take(first)
        return Codes(names, hashes, np.repeat(code, np.diff(start, append=len(strings))))

    def stripped(self, strings: pl.Series) -> Codes:
        """The codes of strings without blanks around them, which are looked for once in each distinct one."""
        codes = self.codes(strings)
        stripped = codes.names.str.strip_chars()
        if (stripped == codes.names).all():
            return codes
        again = self.codes(stripped)
        return replace(again, code=again.code.take(codes.code))

    def coded(self) -> tuple[pl.Series, np.ndarray]:
        """The distinct strings of all blocks in the order in which they came, and each string as its place there."""
        blocks, self._blocks = self._blocks, []
        first, place = _coded(*map(np.concatenate, zip(*(block.hashes for block in blocks), strict=True)))
        names = pl.concat([block.names for block in blocks]).gather(first)
        places = np.split(place, np.cumsum([len(block.names) for block in blocks])[:-1])
        return names, np.concatenate([among.take(block.code) for among, block in zip(places, blocks, strict=True)])


def _coded(hashes: np.ndarray, others: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Where each distinct pair of hashes comes first, ascending, and each pair as its place among these."""
    size = len(hashes)
    order, new = _sorted_together(hashes, others)
    start = np.flatnonzero(new)
    first = order.take(start)
    is_first = np.zeros(size, dtype=bool)
    is_first[first] = True
    place = np.cumsum(is_first, dtype=np.int32)
    place -= 1
    code = np.empty(size, dtype=np.int32)
    code[order] = np.repeat(place.take(first), np.diff(start, append=size))
    return np.flatnonzero(is_first), code


def _sorted_together(hashes: np.ndarray, others: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """An order in which equal pairs stand together, each as they came, and where another pair begins.

    To sort numbers takes a third of the time of sorting their places: each hash gives up its low bits to its place.
    """
    low = np.uint64((1 << len(hashes).bit_length()) - 1)
    packed = (hashes & ~low) | np.arange(len(hashes), dtype=np.uint64)
    packed.sort()
    order = (packed & low).view(np.int64)
    new = starts(hashes.take(order), others.take(order))
    another = packed[1:] ^ packed[:-1] > low
    met = new[1:] & ~another
    if met.any():  # different pairs that have all other bits in common: hardly ever in a block, some among millions
        group = np.cumsum(np.concatenate([[False], another]))
        mixed = np.flatnonzero(np.isin(group, group[1:][met]))
        rows = order[mixed]
        order[mixed] = rows[np.lexsort((rows, others[rows], hashes[rows], group[mixed]))]
        new = starts(hashes.take(order), others.take(order))
    return order, new


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
        for (rows, bad), done in reading.blocks(encoder):
            encoder.add(rows)
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

    def blocks(self, encoder: Encoder) -> Iterator[tuple[CodedBlock, int]]:
        """The rows of each block, and the bytes of the file read so far."""
        if self._layout is None:
            return (((encoder.coded(good), bad), done) for (good, bad), done in parse_parquet(self.path, self._columns))
        return _parsed_ahead(blocks(self.path, self._encoding), self._layout, encoder)


def _in_file(path: Path, bad: Rejected) -> Rejected:
    """Of several files, the reason says which one."""
    reason = pl.format("{}: {}", pl.lit(path.name), "reason").alias("reason")
    return replace(bad, rows=bad.rows.with_columns(reason))


def _parsed_ahead(blocks: Iterable[Block], layout: Layout, encoder: Encoder) -> Iterator[tuple[CodedBlock, int]]:
    """The rows of each block; while the caller works on one block, the next is parsed by another thread."""
    waiting: deque[Future[_Read]] = deque()
    with ThreadPoolExecutor(1) as ahead:
        for block in blocks:
            waiting.append(ahead.submit(_read, block, layout))
            del block  # it is held by who waits for it, and no longer
            if len(waiting) > 1:
                yield _coded_block(waiting.popleft().result(), layout, encoder)
        while waiting:
            yield _coded_block(waiting.popleft().result(), layout, encoder)


_Read = tuple[Block, pl.DataFrame, Rejected | None]  # None: whether a user or a query is blank is not known yet


def _read(block: Block, layout: Layout) -> _Read:
    rows = whole_rows(block, layout)
    return (block, *parse_lines(block, layout)) if rows is None else (block, rows, None)


def _coded_block(read: _Read, layout: Layout, encoder: Encoder) -> tuple[CodedBlock, int]:
    block, good, bad = read
    rows = encoder.coded(good)
    if bad is None and not rows.are_told():
        good, bad = parse_lines(block, layout)
        rows = encoder.coded(good)
    return (rows, Rejected(no_rows()) if bad is None else bad), block.done
