"""Does the server work, and how well? Health, metrics counted over all processes, a log without queries and users."""

import json
import logging
import os
import shutil
import sys
import time
from bisect import bisect_left
from datetime import UTC, datetime
from pathlib import Path
from threading import Lock

import numpy as np
from apiflask import APIBlueprint, APIFlask
from flask import Flask, Response, current_app, g, jsonify, request
from flask.typing import ResponseReturnValue
from sqlalchemy import func, select

from shoal.corpus.errors import InputError, NotFound
from shoal.webapp.core.releases import ActiveReleases
from shoal.webapp.core.served_data import UNSERVED
from shoal.webapp.database import Database, Job
from shoal.webapp.database.models import STATES

BOUNDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.15, 0.3, 0.5, 1.0, 2.5, 5.0)  # seconds
_CLASSES = ("1xx", "2xx", "3xx", "4xx", "5xx")
# Per endpoint: answers by class, then answers within each bound and above all, then the sum of seconds.
_WIDTH = len(_CLASSES) + len(BOUNDS) + 2


class Counters:
    """Counts of one process, in memory that the others can read. Processes of one server share a parent."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._lock = Lock()
        self._own: np.ndarray | None = None
        self._pid = 0

    def count(self, endpoint: str, status: int, seconds: float, endpoints: list[str]) -> None:
        row = bisect_left(endpoints, endpoint)
        row = row if row < len(endpoints) and endpoints[row] == endpoint else len(endpoints)
        bucket = bisect_left(BOUNDS, seconds)
        with self._lock:
            table = self._table(len(endpoints) + 1)
            table[row, min(max(status // 100, 1), 5) - 1] += 1
            table[row, len(_CLASSES) + bucket] += 1
            table[row, -1] += seconds

    def _table(self, rows: int) -> np.ndarray:
        """Mapped on first use: in the process that answers, not in the one that it was forked from."""
        if self._own is None or self._pid != os.getpid():
            self._pid = os.getpid()
            try:
                self._own = self._shared(rows)
            except OSError:  # no room: this process counts for itself, and nobody's search fails for it
                self._own = np.zeros((rows, _WIDTH))
        return self._own

    def _shared(self, rows: int) -> np.ndarray:
        """In a file whose room is taken beforehand: to write into a mapped file without room would end the process."""
        self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        self._forget_others()
        path = self._folder / f"{os.getppid()}-{self._pid}.f64"
        with open(path, "wb") as file:
            os.posix_fallocate(file.fileno(), 0, rows * _WIDTH * 8)
        return np.memmap(path, dtype=np.float64, mode="r+", shape=(rows, _WIDTH))

    def _forget_others(self) -> None:
        """Counts of an earlier start of the server: counters begin at zero again, as Prometheus expects."""
        for path in self._folder.glob("*.f64"):
            if not path.name.startswith(f"{os.getppid()}-"):
                path.unlink(missing_ok=True)

    def total(self, endpoints: list[str]) -> np.ndarray:
        """What all processes of this server counted."""
        rows = len(endpoints) + 1
        with self._lock:
            total = np.array(self._table(rows))
        for path in sorted(self._folder.glob(f"{os.getppid()}-*.f64")):
            values = np.fromfile(path, dtype=np.float64) if path.name != f"{os.getppid()}-{os.getpid()}.f64" else None
            if values is not None and values.size == total.size:
                total += values.reshape(total.shape)
        return total

    def lines(self, endpoints: list[str]) -> list[str]:
        """In Prometheus's text format; endpoints that nobody asked for are left out."""
        table = self.total(endpoints)
        used = [(name, row) for name, row in zip([*endpoints, "none"], table, strict=True) if row.any()]
        answers = ["# HELP shoal_requests_total Answers by endpoint and class.", "# TYPE shoal_requests_total counter"]
        times = ["# HELP shoal_request_seconds Time to answer.", "# TYPE shoal_request_seconds histogram"]
        for name, row in used:
            for kind, count in zip(_CLASSES, row, strict=False):
                if count:
                    answers.append(f'shoal_requests_total{{endpoint="{name}",status="{kind}"}} {count:g}')
            times += _histogram(name, row[len(_CLASSES) : -1], row[-1])
        return answers + times


def _histogram(name: str, buckets: np.ndarray, seconds: float) -> list[str]:
    within = np.cumsum(buckets)
    bounds = [*(f"{bound:g}" for bound in BOUNDS), "+Inf"]
    lines = [
        f'shoal_request_seconds_bucket{{endpoint="{name}",le="{bound}"}} {count:g}'
        for bound, count in zip(bounds, within, strict=True)
    ]
    lines.append(f'shoal_request_seconds_sum{{endpoint="{name}"}} {seconds:.6g}')
    return [*lines, f'shoal_request_seconds_count{{endpoint="{name}"}} {within[-1]:g}']


pages = APIBlueprint("health", __name__, enable_openapi=False)
_FEWEST_FREE = 64 * 2**20  # bytes


def register(app: APIFlask) -> None:
    log_as_json(app)
    app.extensions["shoal.counters"] = Counters(app.extensions["shoal.settings"].instance / "metrics")
    app.register_blueprint(pages)
    app.before_request(_begin)
    app.after_request(_end)


class JsonLines(logging.Formatter):
    """One JSON object per line. Only what is listed here is ever written: no address, no form, no user."""

    def format(self, record: logging.LogRecord) -> str:
        line = {"time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds")}
        line |= {"level": record.levelname.lower(), "logger": record.name, "message": record.getMessage()}
        line |= getattr(record, "fields", {})
        if record.exc_info and record.exc_info[0] is not None:
            line["error"] = record.exc_info[0].__name__
        return json.dumps(line, ensure_ascii=False)


def log_as_json(app: Flask) -> None:
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonLines())
    app.logger.handlers[:] = [handler]
    app.logger.setLevel(logging.INFO)
    app.logger.propagate = False


def _endpoints() -> list[str]:
    """All of them in order: they are known when the first request comes, and sorted then."""
    found: list[str] | None = current_app.extensions.get("shoal.endpoints")
    if found is None:
        found = current_app.extensions["shoal.endpoints"] = sorted(current_app.view_functions)
    return found


def _begin() -> None:
    g.began = time.perf_counter()


def _end(response: Response) -> Response:
    seconds = time.perf_counter() - g.get("began", time.perf_counter())
    endpoint = request.endpoint or "none"
    if endpoint in ("static", "health.healthz", "health.metrics"):
        return response
    counters: Counters = current_app.extensions["shoal.counters"]
    counters.count(endpoint, response.status_code, seconds, _endpoints())
    fields = {
        "endpoint": endpoint, "method": request.method, "status": response.status_code, "ms": round(1000 * seconds, 1)
    }  # fmt: skip
    current_app.logger.info("request", extra={"fields": fields})
    return response


@pages.get("/healthz")
def healthz() -> ResponseReturnValue:
    """Whether searches can be answered: 200, or 503 with what is wrong."""
    checks = {"database": _database_check(), "data": _data_check()}
    checks |= {"release": _release_check(), "disk": _disk_check()}
    healthy = all(text == "ok" for text in checks.values())
    return jsonify({"status": "ok" if healthy else "unwell", "checks": checks}), 200 if healthy else 503


def _data_check() -> str:
    """Why it cannot be served may name a file, or quote one: that stands in the panel."""
    return f"{UNSERVED}: its page of the data says why" if current_app.extensions["shoal.unserved"] else "ok"


def _database_check() -> str:
    database: Database = current_app.extensions["shoal.database"]
    try:
        with database.reading() as session:
            session.execute(select(1))
    except InputError as error:
        return str(error)
    return "ok"


def _release_check() -> str:
    releases: ActiveReleases = current_app.extensions["shoal.releases"]
    try:
        releases.current()
    except NotFound:
        return "ok"  # the operator withdrew it, and searches are answered with plain results
    except InputError as error:
        return str(error)
    return "ok"


def _disk_check() -> str:
    free = shutil.disk_usage(current_app.extensions["shoal.settings"].instance).free
    return "ok" if free >= _FEWEST_FREE else f"only {free // 2**20} MB are free in the instance folder: make room"


@pages.get("/metrics")
def metrics() -> ResponseReturnValue:
    """For Prometheus. Names of endpoints, never addresses: an address may hold a query."""
    counters: Counters = current_app.extensions["shoal.counters"]
    lines = [*counters.lines(_endpoints()), *_job_lines(), *_release_lines()]
    return Response("\n".join(lines) + "\n", content_type="text/plain; version=0.0.4; charset=utf-8")


def _job_lines() -> list[str]:
    database: Database = current_app.extensions["shoal.database"]
    with database.reading() as session:
        rows = session.execute(select(Job.state, func.count().label("jobs")).group_by(Job.state)).all()
    found = {row.state: row.jobs for row in rows}
    head = ["# HELP shoal_jobs Jobs by state.", "# TYPE shoal_jobs gauge"]
    return head + [f'shoal_jobs{{state="{state}"}} {found.get(state, 0)}' for state in STATES]


def _release_lines() -> list[str]:
    releases: ActiveReleases = current_app.extensions["shoal.releases"]
    active = releases.current_id() or "none"
    return [
        "# HELP shoal_active_release The release that serves all searchers.",
        "# TYPE shoal_active_release gauge",
        f'shoal_active_release{{release="{active}"}} 1',
    ]
