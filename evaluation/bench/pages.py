"""How long does a searcher wait? Eight at once, one column and three; and 128 connections that never pause."""

import asyncio
import os
import re
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import cycle, islice
from pathlib import Path
from urllib.parse import urlencode

import numpy as np

from shoal.corpus.logs import load_log
from shoal.corpus.progress import Progress
from shoal.evaluation.bench import Row, free_port

SEARCHERS = 8
LIMITS = {"one column": ("anonymized", 150), "three columns": ("compare", 300)}
_SEARCHES = {False: 300, True: 2_000}
CONNECTIONS = 128
_LOAD = {False: 2_000, True: 20_000}
_GROWTH = 1.05  # of memory, from a quarter of the load to its end
_LENGTH = re.compile(rb"\r\ncontent-length: *(\d+)", re.IGNORECASE)
_PART = re.compile(r"(\w+);dur=([\d.]+)")


def run(full: bool, progress: Progress) -> Sequence[Row]:
    """Serve `reuters` as `shoal serve` does, in processes of their own, and search it over loopback."""
    log, _ = load_log("reuters", progress=progress)
    rng = np.random.default_rng(0)
    queries = log.queries.gather(log.query[rng.integers(0, len(log), _SEARCHES[full])]).to_list()
    with tempfile.TemporaryDirectory() as instance, _served(Path(instance), progress) as (url, server):
        users = re.findall(r"user=([0-9a-f]{16})", _read(f"{url}/people")[0])
        rows = [_row(what, view, limit, url, users, queries, progress) for what, (view, limit) in LIMITS.items()]
        asked = [f"/search?{urlencode({'q': query, 'user': users[i % len(users)]})}" for i, query in enumerate(queries)]
        return [*rows, _load_row(put_load_on(url, server, asked, _LOAD[full], progress))]


def _row(what: str, view: str, limit: int, url: str, users: list[str], queries: list[str], progress: Progress) -> Row:
    asked = [{"q": query, "user": users[i % len(users)], "view": view} for i, query in enumerate(queries)]

    def ask(question: dict[str, str]) -> tuple[float, dict[str, float]]:
        begin = time.perf_counter()
        _, timing = _read(f"{url}/search?{urlencode(question)}")
        return 1000 * (time.perf_counter() - begin), {part: float(ms) for part, ms in _PART.findall(timing)}

    with ThreadPoolExecutor(SEARCHERS) as searchers:
        list(searchers.map(ask, asked[:40]))  # warm
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

    def told(self) -> str:
        p50, p99 = np.quantile(self.waited, [0.5, 0.99])
        each = 1000 * self.processor / len(self.waited)
        return (
            f"{len(self.waited) / self.seconds:.0f} pages a second, {each:.1f} ms of processor time each, "
            f"p50 {p50:.0f} ms, p99 {p99:.0f} ms, {self.failed} failed; "
            f"{' to '.join(f'{size:.0f}' for size in (self.megabytes[0], self.megabytes[-1]))} MB"
        )


def put_load_on(url: str, server: int, paths: Sequence[str], searches: int, progress: Progress) -> Load:
    """Ask for so many pages, on many connections at once; each asks for the next when it has the last."""
    load, asked = Load(), islice(cycle(paths), searches)
    began, spent = time.perf_counter(), _processor_seconds(server)

    async def searcher() -> None:
        reader, writer = await asyncio.open_connection(*url.removeprefix("http://").split(":"))
        for path in asked:
            begin = time.perf_counter()
            writer.write(f"GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
            head = await reader.readuntil(b"\r\n\r\n")
            length = _LENGTH.search(head)
            await reader.readexactly(int(length[1]) if length else 0)
            load.waited.append(1000 * (time.perf_counter() - begin))
            load.failed += not head.startswith(b"HTTP/1.1 200")
            if len(load.waited) % max(searches // 4, 1) == 0:
                load.megabytes.append(_megabytes(server))
            progress(len(load.waited), searches, f"{CONNECTIONS} connections")
        writer.close()

    async def all_searchers() -> None:
        await asyncio.gather(*(searcher() for _ in range(CONNECTIONS)))

    asyncio.run(all_searchers())
    load.seconds, load.processor = time.perf_counter() - began, _processor_seconds(server) - spent
    return load


def _load_row(load: Load) -> Row:
    flat = load.megabytes[-1] <= _GROWTH * load.megabytes[0]
    at = f"reuters, {CONNECTIONS} connections, {len(load.waited):,} searches"
    wanted = f"no failure, memory within {_GROWTH - 1:.0%} of what a quarter took"
    return Row("pages, three columns, load", at, wanted, load.told(), flat and not load.failed)


def _processor_seconds(server: int) -> float:
    """Of a server and its processes, which all live as long as it does."""
    ticks = sum(sum(map(int, _status(pid)[11:13])) for pid in _processes(server))
    return ticks / os.sysconf("SC_CLK_TCK")


def _megabytes(server: int) -> float:
    return sum(int(_status(pid)[21]) for pid in _processes(server)) * os.sysconf("SC_PAGE_SIZE") / 2**20


def _processes(server: int) -> list[int]:
    everyone = [int(path.name) for path in Path("/proc").iterdir() if path.name.isdigit()]
    return [pid for pid in everyone if pid == server or _status(pid)[1:2] == [str(server)]]


def _status(pid: int) -> list[str]:
    """What Linux tells of a process, from its state on: its parent, later its times and its memory."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2].split()
    except OSError:
        return []  # it ended meanwhile


@contextmanager
def _served(instance: Path, progress: Progress) -> Iterator[tuple[str, int]]:
    port = free_port()
    command = [sys.executable, "-m", "shoal", "serve", "--data", "reuters", "--port", str(port), "--no-levels"]
    with (instance / "said.txt").open("w") as said:
        server = subprocess.Popen([*command, "--instance", str(instance / "own")], stdout=said, stderr=said)
        try:
            _wait(f"http://127.0.0.1:{port}", server, progress)
            yield f"http://127.0.0.1:{port}", server.pid
        finally:
            server.terminate()
            server.wait(30)


def _wait(url: str, server: "subprocess.Popen[bytes]", progress: Progress) -> None:
    while server.poll() is None:
        progress(0, 1, "starting the server")
        try:
            _read(f"{url}/healthz")
            return
        except (urllib.error.URLError, OSError):
            time.sleep(0.3)
    raise RuntimeError("the server ended before it answered")


def _read(url: str) -> tuple[str, str]:
    with urllib.request.urlopen(url, timeout=60) as answer:
        return answer.read().decode(), answer.headers.get("Server-Timing", "")
