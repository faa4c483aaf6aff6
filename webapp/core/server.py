"""How is the application served? By gunicorn, in processes that are forked when all is imported and nothing opened."""

import gc
import hashlib
from contextlib import suppress
from importlib.metadata import version
from pathlib import Path

from apiflask import APIFlask
from flask import Flask
from gunicorn.app.base import BaseApplication
from jinja2.bccache import Bucket, FileSystemBytecodeCache
from werkzeug.test import create_environ

from shoal.anonymizer.claims import verifiers
from shoal.anonymizer.registry import methods
from shoal.corpus.errors import InputError
from shoal.corpus.knowledge import Knowledge
from shoal.webapp.core.application import assemble, open_data, start_jobs
from shoal.webapp.core.buffering import BufferingWorker
from shoal.webapp.core.settings import Settings
from shoal.webapp.searcher.search import search_page
from shoal.webapp.searcher.start import start


class Server(BaseApplication):
    """Gunicorn over our settings alone: its own program would put the current folder first on the path of imports,
    and run a gunicorn.conf.py that lies there."""

    def __init__(self, settings: Settings, workers: int, threads: int) -> None:
        self._settings, self._workers, self._threads = settings, workers, threads
        self.slowest_upload = settings.slowest_upload
        self._app = assembled(settings)
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

    def share(self) -> None:
        """Read what the workers then have in common, once it is there: WordNet and what releases rest on."""
        _ = Knowledge().digests

    def load(self) -> APIFlask:
        """What each worker runs, made warm before it takes a request."""
        open_data(self._app)
        warm_up(self._app)
        gc.freeze()  # what stays is not looked through again
        gc.enable()
        start_jobs(self._app)  # after all that the first searcher waits for
        return self._app


def assembled(settings: Settings) -> APIFlask:
    """What all workers share: methods, routes and templates. It opens no data and starts no thread: see `Beside`."""
    methods(), verifiers()
    app = assemble(settings)
    settings.protect_folder()
    app.jinja_env.bytecode_cache = KeptTemplates(settings.instance / "templates")
    for name in app.jinja_env.list_templates(filter_func=_is_of_searchers):
        app.jinja_env.get_template(name)
    return app


class KeptTemplates(FileSystemBytecodeCache):
    """What templates were compiled to at an earlier start, in the folder that nobody else can write to.

    They are compiled anew when they change, or what is around them: what a filter says may be compiled in.
    """

    def __init__(self, folder: Path) -> None:
        with suppress(OSError):
            folder.mkdir(mode=0o700, exist_ok=True)
        super().__init__(str(folder))
        files = [(path.name, path.read_bytes()) for path in sorted(Path(__file__).parent.glob("*.py"))]
        self._around = hashlib.sha256(repr([version("jinja2"), files]).encode()).hexdigest()

    def get_source_checksum(self, source: str) -> str:
        return super().get_source_checksum(self._around + source)

    def dump_bytecode(self, bucket: Bucket) -> None:
        with suppress(OSError):  # a full disk is no reason to show nothing
            super().dump_bytecode(bucket)


def _is_of_searchers(template: str) -> bool:
    return not template.startswith(("operator/", "api/"))


def warm_up(app: Flask) -> None:
    """Make pages that nobody sees: the release, the profiles and the templates are read before the first searcher."""
    index = app.extensions["shoal.service"].index
    try:
        word = next(index.engine.lexicon.commonest(max(len(index) // 10, 1)), "")
        with app.request_context(create_environ("/search", query_string={"q": word})):
            search_page()
        with app.request_context(create_environ("/")):
            start()
    except InputError as error:  # whoever searches is told
        app.logger.warning("the first search will take longer: %s", error)
