"""What do searchers see while the operator switches? 50 at once, and every answer wholly of one release."""

import json
import re
import time
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from threading import Event
from typing import Any

from shoal.webapp.core.activation import activate
from shoal.webapp.core.logs import get_log
from tests.webapp.instances import LiveServer

SEARCHERS = 50
SEARCHES = 4


def ask(live: LiveServer, path: str) -> Any:
    with urllib.request.urlopen(f"{live.url}{path}", timeout=60) as answer:
        assert answer.status == 200
        return json.load(answer)


def test_fifty_searchers_get_answers_wholly_of_one_release_while_it_is_switched(
    live: LiveServer, two_releases: list[str]
) -> None:
    releases, digest = two_releases, _digest(live)
    for release_id in reversed(releases):  # one that never was active cannot be asked for
        activate(live.database, release_id, digest, confirmed=True)
    users = [user["key"] for user in ask(live, "/api/v1/users?limit=5")["users"]]
    paths = [f"/api/v1/search?q=election+news&user={key}" for key in users]
    expected = {(path, r): ask(live, f"{path}&release={r}") for path in paths for r in releases}
    assert any(expected[path, releases[0]]["columns"] != expected[path, releases[1]]["columns"] for path in paths)
    over, switches = Event(), []

    def switch() -> None:
        while not over.is_set():
            activate(live.database, releases[(len(switches) + 1) % 2], digest, confirmed=True)
            switches.append(time.monotonic())
            time.sleep(0.05)

    def search(number: int) -> list[tuple[str, Any]]:
        return [(path, ask(live, path)) for path in (paths[(number + i) % len(paths)] for i in range(SEARCHES))]

    with ThreadPoolExecutor(SEARCHERS + 1) as pool:
        switching = pool.submit(switch)
        answers = [answer for answers in pool.map(search, range(SEARCHERS)) for answer in answers]
        over.set()
        switching.result()
    assert len(answers) == SEARCHERS * SEARCHES
    assert len(switches) > 5
    assert {answer["release_id"] for _, answer in answers} == set(releases)
    for path, answer in answers:
        assert answer == expected[path, answer["release_id"]]


def test_a_switch_reaches_every_process_with_the_next_request(live: LiveServer, two_releases: list[str]) -> None:
    digest = _digest(live)
    for i in range(20):
        wanted = two_releases[i % 2]
        activate(live.database, wanted, digest, confirmed=True)
        assert ask(live, "/api/v1/search?q=election")["release_id"] == wanted


def _digest(live: LiveServer) -> str:
    return get_log(live.database, 1).digest


def test_a_first_start_prints_the_one_time_password_once(live: LiveServer) -> None:
    said = live.said.read_text()
    assert len(re.findall(r"one-time password  \S{16}\n", said)) == 1
    assert (live.settings.instance / "secret.key").stat().st_mode & 0o077 == 0
