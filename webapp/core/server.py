"""How is the application served? By gunicorn, in processes that start from the settings in their environment."""

import os
import sys

from flask import Flask
from gunicorn.app.base import BaseApplication

from shoal.corpus.errors import InputError
from shoal.webapp import create_app
from shoal.webapp.core.buffering import BufferingWorker
from shoal.webapp.core.settings import Settings

ENVIRONMENT = "SHOAL_SETTINGS"


class Server(BaseApplication):
    """Gunicorn over our settings alone: its own program would put the current folder first on the path of imports,
    and run a gunicorn.conf.py that lies there."""

    def __init__(self, settings: Settings, workers: int, threads: int) -> None:
        self._settings, self._workers, self._threads = settings, workers, threads
        self.slowest_upload = settings.slowest_upload
        super().__init__()

    def load_config(self) -> None:
        host = f"[{self._settings.host}]" if ":" in self._settings.host else self._settings.host
        chosen = {
            "bind": f"{host}:{self._settings.port}",
            "worker_class": BufferingWorker,
            "workers": self._workers,
            "threads": self._threads,
            "timeout": 120,
            "keepalive": 5,
            "graceful_timeout": 10,
            "loglevel": "warning",  # no access log: its lines would hold queries
            "control_socket_disable": True,
            "limit_request_line": 8190,
            "umask": 0o077,
        }
        for name, value in chosen.items():
            self.cfg.set(name, value)

    def load(self) -> Flask:
        """What each worker runs, made warm before it takes a request."""
        app = create_app(self._settings)
        warm_up(app)
        return app


def warm_up(app: Flask) -> None:
    """Make a page that nobody sees: the release, the profiles and the templates are read before the first searcher."""
    from shoal.webapp.searcher.search import search_page

    index = app.extensions["shoal.service"].index
    try:
        word = next(index.engine.lexicon.commonest(max(len(index) // 10, 1)), "")
        with app.test_request_context("/search", query_string={"q": word}):
            search_page()
    except InputError as error:  # whoever searches is told
        app.logger.warning("the first search will take longer: %s", error)


def serve(settings: Settings, workers: int, threads: int) -> None:
    """Become the server. A new program rather than a fork: threads of libraries do not survive one."""
    settings.check()
    os.environ[ENVIRONMENT] = settings.to_json()
    arguments = [sys.executable, "-P", "-m", __name__, str(workers), str(threads)]
    sys.stdout.flush()
    os.execv(sys.executable, arguments)


if __name__ == "__main__":
    Server(Settings.from_json(os.environ[ENVIRONMENT]), *map(int, sys.argv[1:])).run()
