"""Does the server work, and how well? Health, metrics, and a log that holds neither queries nor users."""

import json
import logging
import shutil
import sys
import time
from datetime import UTC, datetime

from apiflask import APIBlueprint, APIFlask
from flask import Flask, Response, current_app, g, jsonify, request
from flask.typing import ResponseReturnValue
from sqlalchemy import func, select

from shoal.corpus.errors import InputError
from shoal.webapp.core.counters import Counters
from shoal.webapp.core.releases import ActiveReleases
from shoal.webapp.database import Database, Job
from shoal.webapp.database.models import STATES

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


def _begin() -> None:
    g.began = time.perf_counter()


def _end(response: Response) -> Response:
    seconds = time.perf_counter() - g.get("began", time.perf_counter())
    endpoint = request.endpoint or "none"
    if endpoint in ("static", "health.healthz", "health.metrics"):
        return response
    counters: Counters = current_app.extensions["shoal.counters"]
    counters.count(endpoint, response.status_code, seconds, sorted(current_app.view_functions))
    fields = {
        "endpoint": endpoint, "method": request.method, "status": response.status_code, "ms": round(1000 * seconds, 1)
    }  # fmt: skip
    current_app.logger.info("request", extra={"fields": fields})
    return response


@pages.get("/healthz")
def healthz() -> ResponseReturnValue:
    """Whether searches can be answered: 200, or 503 with what is wrong."""
    checks = {"database": _database_check(), "release": _release_check(), "disk": _disk_check()}
    healthy = all(text == "ok" for text in checks.values())
    return jsonify({"status": "ok" if healthy else "unwell", "checks": checks}), 200 if healthy else 503


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
    lines = [*counters.lines(sorted(current_app.view_functions)), *_job_lines(), *_release_lines()]
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
