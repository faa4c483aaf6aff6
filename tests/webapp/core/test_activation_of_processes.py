"""What do searchers see while the operator switches? 50 at once, and every answer wholly of one release."""

import json
import os
import re
import time
import urllib.error
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from threading import Event
from typing import Any

from shoal.webapp.core.activation import activate
from shoal.webapp.core.gate import Consent
from shoal.webapp.core.releases import NOTHING
from shoal.webapp.core.withdrawal import withdraw
from tests.webapp.instances import Desk, LiveServer, quick_release

SEARCHERS = 50
SEARCHES = 4  # of each, or more where the machine switches slowly
FEWEST_SWITCHES = 5
SWITCHES = int(os.environ.get("SHOAL_SWITCHES", "6"))
KINDS_OF_K = (3, 15)  # those of the two releases
YES = Consent(confirmed=True)


def ask(live: LiveServer, path: str) -> Any:
    with urllib.request.urlopen(f"{live.url}{path}", timeout=60) as answer:
        assert answer.status == 200
        return json.load(answer)


def test_fifty_searchers_get_answers_wholly_of_one_release_while_it_is_switched(
    live: LiveServer, two_releases: list[str]
) -> None:
    releases = two_releases
    for release_id in reversed(releases):  # one that never was active cannot be asked for
        activate(live.releases, release_id, YES)
    users = [user["key"] for user in ask(live, "/api/v1/users?limit=5")["users"]]
    paths = [f"/api/v1/search?q=election+news&user={key}" for key in users]
    expected = {(path, r): ask(live, f"{path}&release={r}") for path in paths for r in releases}
    assert any(expected[path, releases[0]]["columns"] != expected[path, releases[1]]["columns"] for path in paths)
    over, switches = Event(), []

    def switch() -> None:
        while not over.is_set():
            activate(live.releases, releases[(len(switches) + 1) % 2], YES)
            switches.append(time.monotonic())
            time.sleep(0.05)

    def search(number: int) -> list[tuple[str, Any]]:
        asked: list[tuple[str, Any]] = []
        while len(asked) < SEARCHES or (len(switches) <= FEWEST_SWITCHES and not switching.done()):
            path = paths[(number + len(asked)) % len(paths)]
            asked.append((path, ask(live, path)))
        return asked

    with ThreadPoolExecutor(SEARCHERS + 1) as pool:
        switching = pool.submit(switch)
        answers = [answer for answers in pool.map(search, range(SEARCHERS)) for answer in answers]
        over.set()
        switching.result()
    assert len(answers) >= SEARCHERS * SEARCHES
    assert len(switches) > FEWEST_SWITCHES
    assert {answer["release_id"] for _, answer in answers} == set(releases)
    for path, answer in answers:
        assert answer == expected[path, answer["release_id"]]


def test_a_switch_reaches_every_process_with_the_next_request(live: LiveServer, two_releases: list[str]) -> None:
    for i in range(20):
        wanted = two_releases[i % 2]
        activate(live.releases, wanted, YES)
        assert ask(live, "/api/v1/search?q=election")["release_id"] == wanted


def status(live: LiveServer, path: str) -> tuple[int, Any]:
    try:
        return 200, ask(live, path)
    except urllib.error.HTTPError as error:
        with error:
            return error.code, None


def test_switched_and_withdrawn_under_load_no_answer_is_mixed_and_none_of_what_is_gone(
    live: LiveServer, two_releases: list[str]
) -> None:
    """Each release serves for a moment and is withdrawn, every third one while it is active."""
    desk = Desk(live.database, live.settings, 1, live.releases)
    path = f"/api/v1/search?q=election+news&user={ask(live, '/api/v1/users?limit=1')['users'][0]['key']}"
    over, gone, wrong = Event(), set(), []
    kind: dict[str, int] = {}  # which of two contents a release has
    expected: dict[int, Any] = {}
    for k in KINDS_OF_K:
        kind[release_id := quick_release(desk, k=k)] = k
        activate(live.releases, release_id, YES)
        expected[k] = content(ask(live, path))
    first = list(kind)
    serving = [first[0]]
    activate(live.releases, first[0], YES)

    def search(number: int) -> int:
        asked = 0
        while not over.is_set():
            before, named = frozenset(gone), serving[-1] if number % 2 else ""
            code, answer = status(live, f"{path}&release={named}" if named else path)
            asked += 1
            release_id = answer["release_id"] if code == 200 else ""
            if release_id in before:
                wrong.append(("served after its withdrawal", release_id))
            if release_id not in ("", NOTHING) and content(answer) != expected[kind[release_id]]:
                wrong.append(("mixed", release_id))
            if code not in (200, 410) or (code == 410 and not named):
                wrong.append(("failed", code))
        return asked

    with ThreadPoolExecutor(SEARCHERS) as pool:
        searching = [pool.submit(search, number) for number in range(8)]
        try:
            for turn in range(SWITCHES):
                k = KINDS_OF_K[turn % 2]
                kind[release_id := quick_release(desk, k=k)] = k
                activate(live.releases, release_id, YES)
                leaving = [serving[-1], release_id] if turn % 3 == 0 else [serving[-1]]
                serving.append(release_id)
                for left in set(leaving) - gone - set(first):
                    withdraw(live.releases, left, "olga")
                    gone.add(left)
                    codes = {status(live, f"{path}&release={left}")[0] for _ in range(6)}  # both processes
                    assert codes == {410}
        finally:
            over.set()
    assert wrong == []
    assert sum(one.result() for one in searching) > SWITCHES
    assert len(gone) >= SWITCHES - 1
    activate(live.releases, two_releases[0], YES)


def content(answer: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in answer.items() if name != "release_id"}


def test_a_first_start_prints_the_one_time_password_once(live: LiveServer) -> None:
    said = live.said.read_text()
    assert len(re.findall(r"one-time password  \S{16}\n", said)) == 1
    assert (live.settings.instance / "secret.key").stat().st_mode & 0o077 == 0
