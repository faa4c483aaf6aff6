"""How long does a searcher wait? Eight at once, against the served pages, one column and three."""

import re
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlencode

import numpy as np

from shoal.corpus.logs import load_log
from shoal.corpus.progress import Progress
from shoal.evaluation.bench import Row

SEARCHERS = 8
LIMITS = {"one column": ("anonymized", 150), "three columns": ("compare", 300)}
_SEARCHES = {False: 300, True: 2_000}
_PART = re.compile(r"(\w+);dur=([\d.]+)")


def run(full: bool, progress: Progress) -> Sequence[Row]:
    """Serve `reuters` as `shoal serve` does, in processes of their own, and search it over loopback."""
    log, _ = load_log("reuters", progress=progress)
    rng = np.random.default_rng(0)
    queries = log.queries.gather(log.query[rng.integers(0, len(log), _SEARCHES[full])]).to_list()
    with tempfile.TemporaryDirectory() as instance, _served(Path(instance), progress) as url:
        users = re.findall(r"user=([0-9a-f]{16})", _read(f"{url}/people")[0])
        return [_row(what, view, limit, url, users, queries, progress) for what, (view, limit) in LIMITS.items()]


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


@contextmanager
def _served(instance: Path, progress: Progress) -> Iterator[str]:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [sys.executable, "-m", "shoal", "serve", "--data", "reuters", "--port", str(port), "--no-levels"]
    with (instance / "said.txt").open("w") as said:
        server = subprocess.Popen([*command, "--instance", str(instance / "own")], stdout=said, stderr=said)
        try:
            _wait(f"http://127.0.0.1:{port}", server, progress)
            yield f"http://127.0.0.1:{port}"
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
