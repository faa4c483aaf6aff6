"""How is the application served? By gunicorn, in processes that start from the settings in their environment."""

import os
import sys

from flask import Flask

from webapp import create_app
from webapp.settings import Settings

ENVIRONMENT = "SHOAL_SETTINGS"


def application() -> Flask:
    """What each gunicorn worker runs."""
    return create_app(Settings.from_json(os.environ[ENVIRONMENT]))


def serve(settings: Settings, workers: int, threads: int) -> None:
    """Become gunicorn. A new program rather than a fork: threads of libraries do not survive one."""
    settings.check()
    os.environ[ENVIRONMENT] = settings.to_json()
    host = f"[{settings.host}]" if ":" in settings.host else settings.host
    # No access log: its lines would hold queries.
    arguments = [
        sys.executable, "-m", "gunicorn", "webapp.serving:application()", "--bind", f"{host}:{settings.port}",
        "--worker-class", "gthread", "--workers", str(workers), "--threads", str(threads), "--timeout", "120",
        "--graceful-timeout", "10", "--log-level", "warning", "--no-control-socket", "--limit-request-line", "8190",
    ]  # fmt: skip
    sys.stdout.flush()
    os.execv(sys.executable, arguments)
