"""Do two servers with one PostgreSQL and one folder of releases serve what was activated last, at once?"""

import json
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from shoal.webapp.core.activation import activate
from shoal.webapp.core.gate import Consent
from shoal.webapp.core.logs import get_log
from shoal.webapp.core.releases import ActiveReleases
from shoal.webapp.core.settings import Settings
from shoal.webapp.core.withdrawal import withdraw
from shoal.webapp.database import Database
from tests.webapp.databases import free_port, new_database_url, postgresql  # noqa: F401
from tests.webapp.instances import (  # noqa: F401
    Desk,
    quick_release,
    small_log,
    wait_for_answer,
)

YES = Consent(confirmed=True)


def ask(url: str, path: str) -> tuple[int, Any]:
    try:
        with urllib.request.urlopen(f"{url}{path}", timeout=60) as answer:
            return answer.status, json.load(answer)
    except urllib.error.HTTPError as error:
        with error:
            return error.code, None


@pytest.fixture(scope="module")
def settings(
    new_database_url: Callable[[str], str],  # noqa: F811
    small_log: Path,  # noqa: F811
    tmp_path_factory: pytest.TempPathFactory,
) -> Settings:
    instance, address = tmp_path_factory.mktemp("shared"), new_database_url("postgresql")
    return Settings(log=str(small_log), instance=instance, database_url=address, levels=False)


@pytest.fixture(scope="module")
def servers(settings: Settings) -> Iterator[list[str]]:
    """The addresses of two servers that were started with the same database and the same folder."""
    with ExitStack() as stack:
        yield [stack.enter_context(serving(replace(settings, port=free_port()))) for _ in range(2)]


@contextmanager
def serving(settings: Settings) -> Iterator[str]:
    """The address of `shoal serve`, in a process of its own."""
    said, url = settings.instance.with_name(f"said-{settings.port}.txt"), f"http://127.0.0.1:{settings.port}"
    command = [sys.executable, "-m", "shoal", "serve", "--log", settings.log, "--instance", str(settings.instance)]
    command += ["--database", settings.database_url, "--port", str(settings.port), "--workers", "1", "--no-levels"]
    with said.open("w") as output, subprocess.Popen(command, stdout=output, stderr=output) as process:
        try:
            wait_for_answer(f"{url}/healthz", process, said)
            yield url
        finally:
            process.terminate()
            process.wait(20)


@pytest.fixture(scope="module")
def desk(settings: Settings, servers: list[str]) -> Iterator[Desk]:
    database = Database(settings.database)
    releases = ActiveReleases(database, settings.instance, get_log(database, 1).digest)
    yield Desk(database, settings, 1, releases)
    database.close()


def test_an_activation_is_served_by_both_with_the_next_request(servers: list[str], desk: Desk) -> None:
    made = [quick_release(desk, k=k) for k in (3, 15)]
    for turn in range(10):
        activate(desk.releases, made[turn % 2], YES)
        answers = [ask(url, "/api/v1/search?q=election+news") for url in servers]
        assert [(code, found["release_id"]) for code, found in answers] == [(200, made[turn % 2])] * 2
        assert answers[0] == answers[1]


def test_what_is_withdrawn_is_served_by_neither(servers: list[str], desk: Desk) -> None:
    made = quick_release(desk, k=7)
    activate(desk.releases, made, YES)
    withdraw(desk.releases, made, "olga")
    assert [ask(url, f"/api/v1/search?q=election&release={made}")[0] for url in servers] == [410, 410]
    assert all(ask(url, "/api/v1/search?q=election")[1]["release_id"] != made for url in servers)
