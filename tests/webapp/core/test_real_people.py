"""Is a log of real people safe to serve? A visitor gets plain results and groups that are public, no more."""

import re
from pathlib import Path

import numpy as np
import pytest
from flask import Flask
from flask.testing import FlaskClient

from shoal.corpus.logs.aol import read_log
from shoal.webapp import create_app
from shoal.webapp.core.accounts import create_account
from shoal.webapp.core.activation import activate
from shoal.webapp.core.gate import Consent
from shoal.webapp.core.settings import Settings
from shoal.webapp.jobs.queue import claim_job
from shoal.webapp.jobs.run import make_release
from shoal.webapp.jobs.tasks import add_run
from tests.webapp.instances import NAME, PASSWORD

CANARY = "canary-user-4471180"
WORDS = ("qzvwplumox", "grzbtkfnal")
SITE = "canary-address-83.example"
# What shows a person, or what an attacker would learn of one.
OF_PEOPLE = (
    "/people", "/people?find=climate", "/knows", "/attack", "/knows?user={key}", "/attack?user={key}",
    "/search?q=climate&user={key}",
    "/why?q=climate&user={key}&document=1", "/search?q=climate&release=original", "/search?q=climate&release={retired}",
    "/api/v1/users", "/api/v1/users/{key}/profile", "/api/v1/users/{key}/attack",
    "/api/v1/users/{key}/attack?release=original", "/api/v1/search?q=climate&user={key}",
    "/api/v1/releases/{retired}", "/api/v1/releases/{retired}/profiles",
)  # fmt: skip
OPEN = (
    "/", "/search?q=climate", "/search?q=climate&view=plain", "/mine", "/document/1", "/api", "/healthz",
    "/api/v1/search?q=climate", "/api/v1/releases", "/api/v1/releases/current", "/api/v1/releases/current/profiles",
    "/api/v1/methods", "/api/v1/measures", "/api/v1/documents/1",
)  # fmt: skip


@pytest.fixture(scope="module")
def real_log(small_log: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The small log without the heading that says who its people are, and one person with canaries."""
    rows = small_log.read_text().splitlines()[1:]
    for hour in range(5):
        rows.append(f"{CANARY}\t{' '.join(WORDS)} climate\t2006-03-05 {hour:02d}:00:00\t1\thttp://{SITE}/")
    path = tmp_path_factory.mktemp("real") / "log.tsv"
    path.write_text("\n".join(rows) + "\n")
    return path


@pytest.fixture(scope="module")
def served(real_log: Path, tmp_path_factory: pytest.TempPathFactory) -> Flask:
    """The second start of a server: at the first, the log was entered, and releases were made and activated since."""
    settings = Settings(log=str(real_log), instance=tmp_path_factory.mktemp("instance"))
    first = create_app(settings)
    database, service = first.extensions["shoal.database"], first.extensions["shoal.service"]
    create_account(database, NAME, PASSWORD)
    log, _ = read_log(real_log)
    for k in (3, 5):
        job = claim_job(database, add_run(database, "random", {"k": k}, 1), even_if_busy=True)
        assert job is not None
        release = make_release(database, settings.instance, job, log, service.index, _Steps())
        activate(first.extensions["shoal.releases"], release, Consent("olga", "a test", typed=release))
    database.close()
    return create_app(settings)


class _Steps:
    def __call__(self, done: int, total: int, stage: str) -> None: ...

    def step(self, number: int, title: str) -> None: ...


@pytest.fixture
def visitor(served: Flask) -> FlaskClient:
    return served.test_client()


def addresses(among: tuple[str, ...]) -> list[str]:
    return [path.format(key="0123456789abcdef", retired="r2") for path in among]


def test_the_first_start_publishes_nobody(real_log: Path, tmp_path: Path) -> None:
    app = create_app(Settings(log=str(real_log), instance=tmp_path))
    assert app.extensions["shoal.releases"].current().method == "plain"


def test_the_process_holds_neither_the_log_nor_who_has_which_pseudonym(
    served: Flask, monkeypatch: pytest.MonkeyPatch
) -> None:
    service, releases = served.extensions["shoal.service"], served.extensions["shoal.releases"]
    assert service.crowd is None
    stored = releases.current().stored
    assert len(stored.release) > 1
    assert len(stored.assignment.users) == 0
    assert not np.any(service.published(releases.current()).pairs.data)


def test_a_later_start_does_not_even_read_the_log(served: Flask, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object, **__: object) -> None:
        raise AssertionError("the log was read")

    monkeypatch.setattr("shoal.webapp.core.logs.load_log", fail)
    create_app(served.extensions["shoal.settings"])


def test_a_log_that_was_changed_is_read_again(served: Flask, real_log: Path) -> None:
    whole = real_log.read_text()
    try:
        real_log.write_text(whole + "u-new\tclimate\t2006-03-05 09:00:00\t\t\n")
        changed = create_app(served.extensions["shoal.settings"])
        assert changed.extensions["shoal.service"].digest != served.extensions["shoal.service"].digest
    finally:
        real_log.write_text(whole)


@pytest.mark.parametrize("path", OF_PEOPLE)
def test_pages_of_people_do_not_exist(served: Flask, visitor: FlaskClient, path: str) -> None:
    (address,) = addresses((path,))
    answer = visitor.get(address)
    assert answer.status_code == 404, answer.text[:300]
    assert answer.status_code == _operator(served).get(address).status_code or "release" in address


def _operator(served: Flask) -> FlaskClient:
    client = served.test_client()
    token = re.search(r'name="csrf_token"[^>]* value="([^"]+)"', client.get("/admin/login").text)
    assert token is not None
    client.post("/admin/login", data={"name": NAME, "password": PASSWORD, "csrf_token": token[1]})
    return client


@pytest.mark.parametrize("path", OPEN)
def test_what_is_public_is_there(visitor: FlaskClient, path: str) -> None:
    assert visitor.get(path).status_code == 200


def test_pages_lead_to_no_page_of_people(visitor: FlaskClient) -> None:
    for path in ("/", "/search?q=climate"):
        text = visitor.get(path).text
        assert not re.findall(r'href="/(people|knows|attack)', text), path
        assert "Pick one of the people" not in text


def test_only_the_active_release_is_listed(visitor: FlaskClient) -> None:
    listed = visitor.get("/api/v1/releases").json
    assert [one["release_id"] for one in listed["releases"]] == [listed["current"]]


def test_no_answer_to_anybody_holds_a_canary(served: Flask, visitor: FlaskClient) -> None:
    groups = served.extensions["shoal.releases"].current().stored.release.pseudonyms
    paths = [f"/search?q={word}&group={group}" for group in groups for word in ("climate", WORDS[0])]
    for path in (*addresses(OPEN), *addresses(OF_PEOPLE), *paths):
        if "profiles" in path:
            continue  # the release itself, which publishes what its method lets through
        text = visitor.get(path).text
        asked = [word for word in WORDS if word in path]  # what the visitor typed comes back
        assert not any(canary in text for canary in (CANARY, SITE, *WORDS) if canary not in asked), path


def test_a_person_is_ranked_by_the_group_that_the_browser_picked(served: Flask, visitor: FlaskClient) -> None:
    group = served.extensions["shoal.releases"].current().stored.release.pseudonyms[0]
    answer = visitor.get(f"/api/v1/search?q=climate&group={group}").json
    assert [column["kind"] for column in answer["columns"]] == ["plain", "anonymized"]
    assert answer["group_size"] >= 5
