"""What do the tests of the pages stand on? One log with canaries, one server as people start it, one Chromium."""

import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest
from flask import Flask
from flask.testing import FlaskClient

from shoal.corpus.documents import load_documents
from shoal.corpus.knowledge import Knowledge
from shoal.corpus.logs import load_log
from shoal.corpus.people.simulated import simulate_log, write_log
from shoal.corpus.profiles import build_profiles
from shoal.corpus.progress import Progress, silent
from shoal.corpus.store.datasets import CORPORA
from shoal.corpus.store.folders import cache_folder
from shoal.search.index import ENGINE, Index, index_for
from shoal.webapp import create_app
from shoal.webapp.core import accounts, served_data, service
from shoal.webapp.core.people import People
from shoal.webapp.core.settings import Settings
from shoal.webapp.jobs import levels, run
from tests.rooms import made_once
from tests.webapp.browser import browser, open_page, page, take_screenshot  # noqa: F401
from tests.webapp.canaries import birdcage  # noqa: F401
from tests.webapp.databases import database, free_port, new_database_url, postgresql  # noqa: F401
from tests.webapp.instances import (  # noqa: F401
    desk,
    evaluated,
    hostile,
    in_threads,
    live,
    panel,
    quiet_panel,
    small_log,
    two_releases,
    wait_for_answer,
)

USERS = 200
# A user id and words that no dictionary knows: they may be found nowhere but in the log.
CANARY_USER = "canary-user-7731905"
CANARY_WORDS = "zyxqwvplum grzbtkfnord"
_CANARY_ROWS = (CANARY_WORDS, "climate change policy", "climate summit", f"{CANARY_WORDS} energy", "oil price energy")


@pytest.fixture(scope="session", autouse=True)
def usual_hashing() -> Iterator[str]:
    """Passwords are hashed in no time here, as hundreds of tests log in. What a server does is given to who asks."""
    usual = accounts.HASHING
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(accounts, "HASHING", "scrypt:1024:8:1")
        yield usual


@pytest.fixture(scope="session", autouse=True)
def data_set_opened_once() -> Iterator[None]:
    """The index of a data set is opened once by a process of tests, for its applications and its jobs."""

    @cache
    def opened(_cache: Path, _engine: str | None, name: str) -> Index:
        return index_for(name)

    def once(name_or_path: str | Path, progress: Progress = silent) -> Index:
        if str(name_or_path) not in CORPORA:
            return index_for(name_or_path, progress)
        return opened(cache_folder(), os.environ.get(ENGINE), str(name_or_path))

    with pytest.MonkeyPatch.context() as patch:
        for module in (levels, run, service, served_data):
            patch.setattr(module, "index_for", once)
        yield


@dataclass(frozen=True)
class Server:
    """A running server and the file of all it said."""

    url: str
    said: Path
    settings: Settings


@pytest.fixture(scope="session")
def log_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """200 simulated users, and one whose id and queries must never be seen."""
    return made_once(tmp_path_factory, "simulated-users-with-canary.tsv", _write_log)


def _write_log(path: Path) -> None:
    write_log(simulate_log(load_documents("news"), USERS, seed=7), path)
    with path.open("a") as file:
        for hour, query in enumerate(_CANARY_ROWS):
            file.write(f"{CANARY_USER}\t{query}\t2006-03-05 {hour:02d}:00:00\t\t\n")


@pytest.fixture(scope="session")
def settings(log_file: Path, tmp_path_factory: pytest.TempPathFactory) -> Settings:
    instance = tmp_path_factory.mktemp("instance")
    return Settings(data="news", log=str(log_file), instance=instance, port=free_port(), levels=False)


@pytest.fixture(scope="session")
def server(settings: Settings, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """`shoal serve`, in a process of its own, until the session ends."""
    said = tmp_path_factory.mktemp("server") / "said.txt"
    command = [sys.executable, "-m", "shoal", "serve", "--log", settings.log, "--instance", str(settings.instance)]
    command += ["--port", str(settings.port), "--workers", "1", "--threads", "8", "--no-levels"]
    with said.open("w") as output, subprocess.Popen(command, stdout=output, stderr=output) as process:
        try:
            url = f"http://127.0.0.1:{settings.port}"
            wait_for_answer(f"{url}/healthz", process, said)
            yield Server(url, said, settings)
        finally:
            process.terminate()
            process.wait(20)


@pytest.fixture(scope="session")
def app(settings: Settings) -> Flask:
    """The application in this process, over the same data as the server."""
    return create_app(settings)


@pytest.fixture
def client(app: Flask) -> FlaskClient:
    return app.test_client()


@pytest.fixture(scope="session")
def someone(settings: Settings, log_file: Path) -> str:
    """The key of a user with a profile worth looking at."""
    profiles = build_profiles(load_log(str(log_file))[0], Knowledge().words)
    return People(profiles, settings.secret_key()).find()[0].key
