"""How long does a searcher wait? Eight at once, one column and three; and 128 connections that never pause.

With `--against`, the server of another program answers the same in turns.
"""

import asyncio
import re
import tempfile
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass, field
from itertools import cycle, islice
from pathlib import Path
from urllib.parse import urlencode

import numpy as np

from shoal.corpus.logs import load_log
from shoal.corpus.progress import Progress
from shoal.evaluation.bench import Row
from shoal.evaluation.run.programs import beside, taking_part
from shoal.evaluation.run.server import Server, served

SEARCHERS = 8
LIMITS = {"one column": ("anonymized", 150), "three columns": ("compare", 300)}
_SEARCHES = {False: 300, True: 2_000}
CONNECTIONS = 128
_LOAD = {False: 2_000, True: 20_000}
_GROWTH = 1.05  # of memory, from a quarter of the load to its end
_SLICE, _WARM = 50, 40  # searches of a server before the other's turn; before any is measured
_MEASURED = {False: 400, True: 2_000}
_LENGTH = re.compile(rb"\r\ncontent-length: *(\d+)", re.IGNORECASE)
_PART = re.compile(r"(\w+);dur=([\d.]+)")


def run(full: bool, progress: Progress) -> Sequence[Row]:
    return compare(full, progress, "")


def compare(full: bool, progress: Progress, against: str) -> Sequence[Row]:
    """Serve `reuters` as `shoal serve` does, in processes of their own, and search it over loopback."""
    log, _ = load_log("reuters", progress=progress)
    rng = np.random.default_rng(0)
    queries = log.queries.gather(log.query[rng.integers(0, len(log), max(_SEARCHES[full], _MEASURED[full]))]).to_list()
    with tempfile.TemporaryDirectory() as folder, ExitStack() as stack:
        servers = [
            stack.enter_context(served(program, "reuters", Path(folder) / str(number), progress))
            for number, program in enumerate(taking_part(against))
        ]
        rows = []
        for what, (view, limit) in LIMITS.items():
            asked = [_paths(server, queries, view) for server in servers]
            rows.append(_row(what, limit, servers[0], asked[0][: _SEARCHES[full]], progress))
            rows.append(_processor_row(what, processor_milliseconds(servers, asked, progress)))
        loads = [put_load_on(server, _paths(server, queries), _LOAD[full], progress) for server in servers]
        return [*rows, _load_row(loads)]


def _paths(server: Server, queries: Sequence[str], view: str = "") -> list[str]:
    """Searches by people whose profiles the server shows, one after the other."""
    users, shown = server.people(), {"view": view} if view else {}
    asked = [{"q": query, "user": users[i % len(users)], **shown} for i, query in enumerate(queries)]
    return [f"/search?{urlencode(question)}" for question in asked]


def processor_milliseconds(
    servers: Sequence[Server], asked: Sequence[Sequence[str]], progress: Progress
) -> list[float]:
    """Of the processor for each page of each server: one search at a time, in slices that take turns."""
    spent = [0.0 for _ in servers]
    for begin in range(0, len(asked[0]), _SLICE):
        progress(begin, len(asked[0]), "searching in turns")
        for number, (server, paths) in enumerate(zip(servers, asked, strict=True)):
            if not begin:
                _read_all(server, paths[-_WARM:])
            before = server.processor_seconds
            _read_all(server, paths[begin : begin + _SLICE])
            spent[number] += server.processor_seconds - before
    return [1000 * seconds / len(asked[0]) for seconds in spent]


def _read_all(server: Server, paths: Sequence[str]) -> None:
    for path in paths:
        server.read(path)


def _processor_row(what: str, measured: Sequence[float]) -> Row:
    reached = beside(measured, "{:.1f} ms a page")
    return Row(f"pages, {what}, processor", "reuters, one searcher", "measured", reached, True)


def _row(what: str, limit: int, server: Server, asked: Sequence[str], progress: Progress) -> Row:
    def ask(path: str) -> tuple[float, dict[str, float]]:
        begin = time.perf_counter()
        _, timing = server.read(path)
        return 1000 * (time.perf_counter() - begin), {part: float(ms) for part, ms in _PART.findall(timing)}

    with ThreadPoolExecutor(SEARCHERS) as searchers:
        list(searchers.map(ask, asked[:_WARM]))
        answers = []
        for answer in searchers.map(ask, asked):
            answers.append(answer)
            progress(len(answers), len(asked), f"searching, {what}")
    return _summed_up(what, limit, answers)


def _summed_up(what: str, limit: int, answers: list[tuple[float, dict[str, float]]]) -> Row:
    waited = np.array([ms for ms, _ in answers])
    names = list(dict.fromkeys(part for _, parts in answers for part in parts))
    mean = {name: float(np.mean([parts.get(name, 0.0) for _, parts in answers])) for name in names}
    mean["page and waiting"] = float(waited.mean()) - sum(mean.values())
    shares = ", ".join(f"{name} {ms:.1f}" for name, ms in mean.items())
    slow = float(np.quantile(waited, 0.95))
    reached = f"p50 {np.median(waited):.0f} ms, p95 {slow:.0f} ms; in the mean {shares} ms"
    return Row(f"pages, {what}", f"reuters, {SEARCHERS} searchers at once", f"p95 < {limit} ms", reached, slow < limit)


@dataclass
class Load:
    """What a server did under load, and what it took."""

    waited: list[float] = field(default_factory=list)  # milliseconds, for each answer
    failed: int = 0  # answers that were no page
    megabytes: list[float] = field(default_factory=list)  # of all its processes, at each quarter
    seconds: float = 0
    processor: float = 0  # seconds, of all its processes

    @property
    def rate(self) -> float:
        """Pages a second."""
        return len(self.waited) / self.seconds

    def told(self) -> str:
        p50, p99 = np.quantile(self.waited, [0.5, 0.99])
        each = 1000 * self.processor / len(self.waited)
        return (
            f"{self.rate:.0f} pages a second, {each:.1f} ms of processor time each, "
            f"p50 {p50:.0f} ms, p99 {p99:.0f} ms, {self.failed} failed; "
            f"{' to '.join(f'{size:.0f}' for size in (self.megabytes[0], self.megabytes[-1]))} MB"
        )


def put_load_on(server: Server, paths: Sequence[str], searches: int, progress: Progress) -> Load:
    """Ask for so many pages, on many connections at once; each asks for the next when it has the last."""
    load, asked = Load(), islice(cycle(paths), searches)
    began, spent = time.perf_counter(), server.processor_seconds

    async def searcher() -> None:
        reader, writer = await asyncio.open_connection(*server.url.removeprefix("http://").split(":"))
        for path in asked:
            begin = time.perf_counter()
            writer.write(f"GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
            head = await reader.readuntil(b"\r\n\r\n")
            length = _LENGTH.search(head)
            await reader.readexactly(int(length[1]) if length else 0)
            load.waited.append(1000 * (time.perf_counter() - begin))
            load.failed += not head.startswith(b"HTTP/1.1 200")
            if len(load.waited) % max(searches // 4, 1) == 0:
                load.megabytes.append(server.megabytes)
            progress(len(load.waited), searches, f"{CONNECTIONS} connections")
        writer.close()

    async def all_searchers() -> None:
        await asyncio.gather(*(searcher() for _ in range(CONNECTIONS)))

    asyncio.run(all_searchers())
    load.seconds, load.processor = time.perf_counter() - began, server.processor_seconds - spent
    return load


def _load_row(loads: Sequence[Load]) -> Row:
    """Of ours, and of the other how many times as many pages ours gives in a second."""
    load, *others = loads
    flat = load.megabytes[-1] <= _GROWTH * load.megabytes[0]
    at = f"reuters, {CONNECTIONS} connections, {len(load.waited):,} searches"
    wanted = f"no failure, memory within {_GROWTH - 1:.0%} of what a quarter took"
    told = [f"{load.rate / other.rate:.2f} times the pages of the other ({other.told()})" for other in others]
    return Row("pages, three columns, load", at, wanted, "; ".join([load.told(), *told]), flat and not load.failed)
