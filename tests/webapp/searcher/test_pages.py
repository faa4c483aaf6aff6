"""Do the pages answer, hostile queries too, and do they keep what nobody may see?"""

import json
import re
from dataclasses import replace
from html import unescape
from urllib.parse import quote

import numpy as np
import polars as pl
import pytest
from flask import Flask
from flask.testing import FlaskClient
from sqlalchemy import event

from shoal.cli import main
from shoal.corpus.knowledge import Knowledge
from shoal.corpus.profiles import build_profiles
from shoal.corpus.querylog import make_log
from shoal.webapp.core.headers import HEADERS
from shoal.webapp.core.people import People
from shoal.webapp.core.service import SearchService
from shoal.webapp.core.settings import Settings
from shoal.webapp.database import Release
from tests.webapp.conftest import CANARY_USER, CANARY_WORDS

PATHS = ("/", "/search?q=climate", "/people", "/knows", "/attack", "/mine", "/document/0", "/api")
HOSTILE = [
    "the of and", "", "   ", "x" * 10_000, "\x00\x01\x1f\x7f", '"unbalanced', "((((", "title:", 'text:"', "a OR",
    "<script>alert(1)</script>", "'; DROP TABLE users; --", "../../etc/passwd", "%00", "\U0001f600" * 50,
    "\u202e\u0000", "{{7*7}}", "${7*7}", "*", "~", "[a TO b]", "é" * 300, "word " * 3000,
]  # fmt: skip


def search(client: FlaskClient, **asked: object) -> str:
    answer = client.get("/search", query_string=asked)
    assert answer.status_code == 200
    return answer.text


@pytest.mark.parametrize("path", PATHS)
def test_every_page_answers_with_headers_that_let_nothing_foreign_run(client: FlaskClient, path: str) -> None:
    answer = client.get(path)
    assert answer.status_code == 200
    for name, value in HEADERS.items():
        assert answer.headers[name] == value
    assert "unsafe-inline" not in answer.headers["Content-Security-Policy"]
    assert not re.search(r"<script(?![^>]*\bsrc=)|\son\w+=|\sstyle=|javascript:", answer.text)


def test_a_search_asks_the_database_nothing_that_was_asked_since_the_last_write(
    app: Flask, client: FlaskClient, someone: str
) -> None:
    asked: list[str] = []
    event.listen(
        app.extensions["shoal.database"]._engine, "before_cursor_execute", lambda *given: asked.append(given[2])
    )
    for _ in range(2):
        asked.clear()
        search(client, q="climate", user=someone)
    assert asked == []


@pytest.mark.parametrize("query", HOSTILE)
def test_no_query_breaks_the_search(client: FlaskClient, someone: str, query: str) -> None:
    encoded = quote(query.encode("utf-8", "surrogatepass"))
    asked = f"q={encoded}&user={someone}"
    for path in (f"/search?{asked}", f"/api/v1/search?{asked}", f"/people?find={encoded}"):
        answer = client.get(path)
        assert answer.status_code in ((400,) if "\0" in query else (200, 302)), path[:80]
        assert answer.is_json or "<script>alert" not in answer.text


@pytest.mark.parametrize(
    "asked",
    ["weight=2", "weight=x", "weight=nan", "page=0", "page=99", "view=none", "user=nobody", "group=p9", "release=r0"],
)
def test_what_is_not_allowed_is_refused_with_a_message_on_the_page(client: FlaskClient, asked: str) -> None:
    answer = client.get(f"/search?q=climate&{asked}")
    assert answer.status_code in (400, 404)
    assert "That did not work" in answer.text or "Not found" in answer.text
    assert client.get(f"/api/v1/search?q=climate&{asked}").json["error"]["message"]


def test_a_search_is_answered_in_three_columns_by_a_sample_person_if_nobody_was_picked(
    client: FlaskClient, someone: str
) -> None:
    picked, sampled = search(client, q="climate change", user=someone), search(client, q="climate change")
    for page in (picked, sampled):
        assert re.findall(r'id="head-(\w+)"', page) == ["plain", "personalized", "anonymized"]
    assert "Nobody was picked" in sampled
    assert "Nobody was picked" not in picked


def test_a_real_person_is_never_shown_unasked(client: FlaskClient, app: Flask, monkeypatch: pytest.MonkeyPatch) -> None:
    served = app.extensions["shoal.service"]
    real = replace(served, people_kind="real", crowd=None)
    monkeypatch.setitem(app.extensions, "shoal.service", real)
    assert re.findall(r'id="head-(\w+)"', search(client, q="climate change")) == ["plain"]


def test_at_weight_zero_the_three_rankings_are_the_plain_one(client: FlaskClient, someone: str) -> None:
    answer = client.get("/api/v1/search", query_string={"q": "climate change", "user": someone, "weight": 0}).json
    ranked = [[result["document"] for result in column["results"]] for column in answer["columns"]]
    assert ranked[0] == ranked[1] == ranked[2]
    assert all(result["move"] == 0 for column in answer["columns"] for result in column["results"])


def test_the_command_line_ranks_for_a_person_as_the_server_does(
    client: FlaskClient, app: Flask, someone: str, settings: Settings, capsys: pytest.CaptureFixture[str]
) -> None:
    here: SearchService = app.extensions["shoal.service"]
    name = here.log.users[here.people.get(someone).row]
    asked = {"q": "climate change", "user": someone, "weight": 0.85}
    column = client.get("/api/v1/search", query_string=asked).json["columns"][1]
    served = [(here.index.documents.id(r["document"]), r["score"], r["ranks"]["plain"]) for r in column["results"]]
    assert main(["search", "climate change", "--log", settings.log, "--user", name, "--json"]) == 0
    printed = json.loads(capsys.readouterr().out)["results"]
    assert [(result["id"], result["score"], result["before"]) for result in printed] == served


def test_the_slider_starts_at_what_was_learned_for_the_release_and_why_has_three_parts(
    client: FlaskClient, app: Flask, someone: str
) -> None:
    blend = app.extensions["shoal.releases"].current().stored.manifest.blend
    assert blend is not None
    asked = {"q": "climate change", "user": someone}
    assert (
        f'name="weight" min="0" max="1" step="0.05" value="{blend["profile"]}"'
        in client.get("/search", query_string=asked).text
    )
    columns = client.get("/api/v1/search", query_string=asked).json["columns"]
    again = client.get("/api/v1/search", query_string={**asked, "weight": blend["profile"]}).json["columns"]
    assert columns == again
    for result in columns[2]["results"]:
        why = client.get(
            "/api/v1/why", query_string={**asked, "document": result["document"], "column": "anonymized"}
        ).json
        parts = [part["value"] for name in ("engine", "profile", "everyone") for part in why[name]]
        assert sum(parts) == pytest.approx(result["score"], rel=1e-4, abs=1e-6)
        assert blend["everyone"] > 0 or not why["everyone"]


def test_a_move_is_the_difference_from_the_plain_rank(client: FlaskClient, someone: str) -> None:
    answer = client.get("/api/v1/search", query_string={"q": "climate change", "user": someone, "weight": 1}).json
    plain = [result["document"] for result in answer["columns"][0]["results"]]
    for column in answer["columns"]:
        for result in column["results"]:
            assert result["move"] == result["ranks"]["plain"] - result["rank"]
            if result["document"] in plain:
                assert result["ranks"]["plain"] == plain.index(result["document"]) + 1


def test_pages_continue_each_other(client: FlaskClient, someone: str) -> None:
    first, second = (
        client.get("/api/v1/search", query_string={"q": "climate change", "user": someone, "page": page}).json
        for page in (1, 2)
    )
    for one, two in zip(first["columns"], second["columns"], strict=True):
        assert [result["rank"] for result in one["results"] + two["results"]] == list(range(1, 21))
        assert len({result["document"] for result in one["results"] + two["results"]}) == 20


def test_a_misspelt_query_is_answered_with_a_suggestion(client: FlaskClient) -> None:
    assert "Did you mean" in search(client, q="immigrattion")


def test_the_parts_of_a_reason_sum_to_the_score(client: FlaskClient, someone: str) -> None:
    asked = {"q": "climate change", "user": someone, "weight": 0.9}
    for column in client.get("/api/v1/search", query_string=asked).json["columns"]:
        shown = column["results"][0]
        reason = client.get(
            "/api/v1/why", query_string={**asked, "document": shown["document"], "column": column["kind"]}
        ).json
        parts = sum(part["value"] for part in reason["engine"] + reason["profile"])
        assert reason["score"] == pytest.approx(shown["score"], abs=1e-6)
        assert parts == pytest.approx(shown["score"], abs=1e-5)
        assert {part["whose"] for part in reason["profile"]} <= {"mine", "shared", "strangers"}


def test_a_reason_for_a_document_that_was_not_found_is_a_404(client: FlaskClient) -> None:
    assert client.get("/why?q=climate&document=0&column=anonymized").status_code == 404


def test_the_fate_of_every_term_of_a_profile_is_told(client: FlaskClient, app: Flask, someone: str) -> None:
    service = app.extensions["shoal.service"]
    known = client.get(f"/api/v1/users/{someone}/profile").json
    own = service.profiles.of(service.people.get(someone).row)
    assert {one["term"]: one["count"] for one in known["terms"]} == own
    page = client.get(f"/knows?user={someone}").text
    assert "Checked on the published data" in page


def test_an_attack_on_profiles_as_they_are_finds_the_person(client: FlaskClient, someone: str) -> None:
    path = f"/api/v1/users/{someone}/attack"
    original = client.get(path, query_string={"m": 10, "release": "original"}).json
    assert original["chance"] == 1
    assert original["candidates"][0]["is_victims"]
    anonymized = client.get(path, query_string={"m": 10}).json
    assert anonymized["chance"] < 1
    assert sum(one["is_victims"] for one in anonymized["candidates"]) <= 1


def test_a_group_that_the_browser_chose_is_searched_with(client: FlaskClient) -> None:
    profiles = client.get("/api/v1/releases/current/profiles").json
    answer = client.get(
        "/api/v1/search", query_string={"q": "climate", "group": profiles["ids"][0], "release": profiles["release_id"]}
    ).json
    assert [column["kind"] for column in answer["columns"]] == ["plain", "anonymized"]
    assert answer["group_size"] == profiles["users"][0]


def test_links_of_documents_lead_to_the_web_or_nowhere() -> None:
    from shoal.webapp.core.formats import safe_link

    assert safe_link("https://example.org/a?b=c") == "https://example.org/a?b=c"
    refused = ("javascript:alert(1)", " JaVaScRiPt:alert(1)", "java\nscript:x", "data:text/html,x", "//x", "file:///x")
    for address in (*refused, "http://", "http://[", ""):
        assert safe_link(address) == ""


PERSONAL = ("/?", "/search?q=climate+energy&", "/knows?", "/attack?", "/people?find=climate&")
PUBLIC = (
    "/mine",
    "/api/v1/releases/current/profiles",
    "/api/v1/releases",
    "/api/v1/users?limit=100",
    "/healthz",
    "/metrics",
)


def test_the_canary_is_found_in_no_page_and_no_answer(client: FlaskClient, app: Flask, someone: str) -> None:
    service = app.extensions["shoal.service"]
    canary = service.people.at(service.log.users.to_list().index(CANARY_USER)).key
    paths = [f"{path}user={user}" for path in PERSONAL for user in (someone, canary)]
    paths += [f"/api/v1/users/{user}/{what}" for what in ("profile", "attack") for user in (someone, canary)]
    for path in (*paths, *PUBLIC):
        text = client.get(path).text
        assert CANARY_USER not in text
        assert not any(word in text for word in CANARY_WORDS.split())
    assert client.get(f"/api/v1/users?find={CANARY_WORDS.split()[0]}").json["users"] == []


def test_a_key_of_a_person_is_no_plain_hash_of_the_id(app: Flask) -> None:
    from hashlib import sha256

    people = app.extensions["shoal.service"].people
    names = app.extensions["shoal.service"].log.users
    assert all(people.at(row).key not in sha256(name.encode()).hexdigest() for row, name in enumerate(names))


def test_an_error_inside_shows_and_logs_nothing_of_the_query(
    client: FlaskClient, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def fail(*_: object) -> None:
        raise RuntimeError(f"cannot answer {CANARY_WORDS}")

    monkeypatch.setattr("shoal.webapp.searcher.search.compare", fail)
    answer = client.get(f"/search?q={quote(CANARY_WORDS)}")
    assert answer.status_code == 500
    assert CANARY_WORDS.split()[0] not in answer.text + caplog.text
    assert "RuntimeError" in caplog.text


def test_every_answer_of_the_api_fits_its_description(client: FlaskClient) -> None:
    spec = client.get("/api/v1/openapi.json").json
    assert {"/api/v1/search", "/api/v1/why", "/api/v1/users", "/api/v1/releases"} <= set(spec["paths"])
    assert "release_id" in json.dumps(spec["components"]["schemas"]["SearchOut"])
    missing = client.get("/api/v1/nothing")
    assert missing.status_code == 404
    assert missing.json["error"]["code"] == 404


def test_profiles_of_a_release_that_never_served_are_not_given_out(client: FlaskClient, app: Flask) -> None:
    releases = app.extensions["shoal.releases"]
    release_id = releases.current_id()
    address = f"/api/v1/releases/{release_id}/profiles"
    assert client.get(address).status_code == 200
    with releases.database.writing() as session:
        row = session.get_one(Release, release_id)
        published_at, row.published_at = row.published_at, None
    status = client.get(address).status_code
    with releases.database.writing() as session:
        session.get_one(Release, release_id).published_at = published_at
    assert status == 404


def test_a_sampled_person_is_shown_and_slips_into_no_form(client: FlaskClient) -> None:
    page = search(client, q="climate change")
    form = page[page.index('<form class="searchbox"') : page.index("</form>", page.index('<form class="searchbox"'))]
    assert 'name="user"' not in form
    paging = re.findall(r'<nav class="paging".*?</nav>', page, re.S)[0]
    assert "user=" not in paging
    why = re.search(r'href="(/why\?[^"]+column=personalized)"', page)
    assert why is not None
    assert client.get(unescape(why[1])).status_code == 200


def test_the_list_of_people_leads_to_everybody_and_back(client: FlaskClient, app: Flask) -> None:
    keys: list[str] = []
    address, seen = "/people", 0
    while address:
        page = client.get(address).text
        keys += re.findall(r'class="person" href="/\?user=(\w+)', page)
        assert ('rel="prev"' in page) == (seen > 0)
        found = re.search(r'rel="next" href="([^"]+)"', page)
        address, seen = unescape(found[1]) if found else "", seen + 1
    everybody = app.extensions["shoal.service"].people.find(limit=10**6)
    assert keys == [person.key for person in everybody]
    assert client.get("/people?list=100000").status_code == 400


def test_a_document_leads_back_to_the_search_it_was_found_by(client: FlaskClient, someone: str) -> None:
    page = search(client, q="climate change", user=someone, page=2)
    link = re.search(r'<h3><a href="(/document/[^"]+)"', page)
    assert link is not None
    document = client.get(unescape(link[1])).text
    back = re.search(r'<a href="(/search[^"]+)">← Back to the results', document)
    assert back is not None
    assert client.get(unescape(back[1])).text == page
    assert "Back to the search page" in client.get("/document/0").text


def test_who_brings_a_profile_of_the_own_is_not_drawn_as_one_of_the_group(client: FlaskClient, someone: str) -> None:
    profiles = client.get("/api/v1/releases/current/profiles").json
    as_group = search(client, q="climate", group=profiles["ids"][0], release=profiles["release_id"])
    assert 'class="fish"' in as_group
    assert "fish-me" not in as_group
    assert "fish-me" in search(client, q="climate", user=someone)


def test_every_term_of_a_profile_is_on_its_page(client: FlaskClient, app: Flask) -> None:
    service = app.extensions["shoal.service"]
    largest = service.people.at(int(np.diff(service.profiles.counts.indptr).argmax()))
    own = service.profiles.of(largest.row)
    assert len(own) > 40
    page = client.get(f"/knows?user={largest.key}").text
    before = page[page.index("Before:") : page.index("After:")]
    assert {unescape(term) for term in re.findall(r'<th scope="row">([^<]+)</th>', before)} == set(own)


def test_people_have_readable_names_of_their_interests_and_no_two_the_same(app: Flask) -> None:
    everybody = app.extensions["shoal.service"].people.find(limit=10**6)
    assert len({person.name for person in everybody}) == len(everybody)
    beyond = [set(person.name.lower().split()) - set(person.interests) for person in everybody]
    assert all(more <= {person.key[:4]} for more, person in zip(beyond, everybody, strict=True))
    assert sum(map(bool, beyond)) < len(everybody) / 5


def test_the_start_page_shows_one_query_as_two_people_see_it(client: FlaskClient, app: Flask) -> None:
    page = client.get("/").text
    links = [unescape(link) for link in re.findall(r'class="button" href="(/search[^"]+)"', page)]
    assert len(links) == 2
    firsts = [
        re.findall(r'data-document="(\d+)"', client.get(f"{link}&view=personalized&weight=1").text) for link in links
    ]
    assert len(firsts[0]) == len(firsts[1]) == 10
    assert len(set(firsts[0]) & set(firsts[1])) <= 5
    for link, kept in zip(links, re.findall(r"<b>(\d+) of 10</b>", page), strict=True):
        asked = dict(pair.split("=") for pair in link.partition("?")[2].split("&"))
        assert client.get("/api/v1/search", query_string=asked).json["quality"]["same10"] == int(kept)


def test_examples_are_of_the_person_and_of_the_corpus(client: FlaskClient, app: Flask, someone: str) -> None:
    person = app.extensions["shoal.service"].people.get(someone)
    for address, known in ((f"/?user={someone}", set(person.interests)), ("/", None)):
        line = re.search(r'<p class="examples">(.*?)</p>', client.get(address).text, re.S)
        assert line is not None
        shown = re.findall(r">([^<]+)</a>", line[1])
        assert len(shown) >= 3
        for example in shown:
            assert client.get("/api/v1/search", query_string={"q": example}).json["found"]
            assert known is None or set(example.split()) <= known


def test_nobody_is_called_by_what_nobody_would_want() -> None:
    rows = [("a", "porn")] * 5 + [("a", "harbour"), ("b", "porn"), ("b", "lantern")]
    log = make_log(pl.Series([user for user, _ in rows]), pl.Series([text for _, text in rows]))
    people = People(build_profiles(log, Knowledge().words), b"secret")
    assert [people.at(row).name.split()[0] for row in range(2)] == ["Harbour", "Lantern"]
