"""What do fifty searchers see while the operator switches releases? Each answer wholly of one release, and no error."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import cycle, islice
from threading import Event, Thread
from typing import Any

import pytest
from flask import Flask

from shoal.corpus.progress import silent
from shoal.webapp.core.activation import activate
from shoal.webapp.core.gate import Consent
from shoal.webapp.core.logs import list_logs
from shoal.webapp.core.withdrawal import withdraw
from shoal.webapp.jobs.queue import claim_job
from shoal.webapp.jobs.run import make_release
from shoal.webapp.jobs.tasks import add_run

SEARCHERS, SEARCHES = 50, 150  # at once, and in a round
QUERIES = ("climate", "election", "oil price", "refugee camp")


class _Steps:
    def step(self, number: int, title: str) -> None:
        return None

    def __call__(self, done: int, total: int, stage: str) -> None:
        silent(done, total, stage)


@pytest.fixture
def two_releases(app: Flask) -> Iterator[tuple[str, str]]:
    """The active release and another one; at the end the first is active again, and the other gone for other tests."""
    database, service = app.extensions["shoal.database"], app.extensions["shoal.service"]
    first = app.extensions["shoal.releases"].current().release_id
    log = next(one for one in list_logs(database) if one.digest == service.log.digest())
    job = claim_job(database, add_run(database, "random", {"k": 9}, log.id), even_if_busy=True)
    assert job is not None
    second = make_release(
        database, app.extensions["shoal.settings"].instance, job, service.log, service.index, _Steps()
    )
    _activate(app, second)  # one that never was active cannot be asked for
    _activate(app, first)
    yield first, second
    _activate(app, first)
    withdraw(app.extensions["shoal.releases"], second, "test")


def _activate(app: Flask, release_id: str) -> None:
    activate(app.extensions["shoal.releases"], release_id, Consent(note="test", confirmed=True))


def _ask(app: Flask, query: str, user: str, release: str = "") -> dict[str, Any]:
    answer = app.test_client().get("/api/v1/search", query_string={"q": query, "user": user, "release": release})
    assert answer.status_code == 200
    found: dict[str, Any] = answer.json  # type: ignore[assignment]
    return found


def test_every_answer_is_wholly_of_one_release(app: Flask, two_releases: tuple[str, str]) -> None:
    users = [person.key for person in app.extensions["shoal.service"].people.find(limit=5)]
    asked = list(islice(cycle([(query, user) for query in QUERIES for user in users]), SEARCHES))
    expected = {
        (release, query, user): _ask(app, query, user, release)
        for release in two_releases
        for query, user in asked[:20]
    }
    over = Event()

    def switch() -> None:
        for release in cycle(two_releases):
            _activate(app, release)
            if over.wait(0.02):
                return

    operator = Thread(target=switch)
    operator.start()
    try:
        answers: list[tuple[tuple[str, str], dict[str, Any]]] = []
        with ThreadPoolExecutor(SEARCHERS) as searchers:
            while len({answer["release_id"] for _, answer in answers}) < 2 and len(answers) < 20 * SEARCHES:
                answers += searchers.map(lambda one: (one, _ask(app, *one)), asked)
    finally:
        over.set()
        operator.join()
    for (query, user), answer in answers:
        assert answer == expected[answer["release_id"], query, user]
    assert {answer["release_id"] for _, answer in answers} == set(two_releases)
