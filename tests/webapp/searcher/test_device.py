"""Does a browser rank as the server would, by a profile that it keeps? Every request is searched for the profile."""

import json

import numpy as np
import pytest
from flask import Flask
from flask.testing import FlaskClient
from playwright.sync_api import Page, expect
from scipy.sparse import csr_array

from shoal.search.personal import search
from shoal.webapp.core.service import SearchService
from shoal.webapp.searcher.candidates import HeldWords, describe_candidates, held_words, pack_vectors

QUERIES = ("climate change", "oil price", "election")
ON_A_DESKTOP = pytest.mark.parametrize("page", ["desktop"], indirect=True)


@pytest.fixture
def service(app: Flask) -> SearchService:
    found: SearchService = app.extensions["shoal.service"]
    return found


def unpacked(packed: dict[str, list[int]], rarity: np.ndarray, shape: tuple[int, int]) -> np.ndarray:
    """Candidates x words, as a browser reads the answer."""
    made = np.zeros(shape)
    form = at = 0
    for gap, holders in zip(packed["forms"], packed["holders"], strict=True):
        form, document = form + gap, 0
        for _ in range(holders):
            document += packed["places"][at]
            made[document, form] = packed["times"][at] * rarity[form] * packed["unit"][document]
            at += 1
    assert at == len(packed["places"]) == len(packed["times"])
    return made


def test_the_vectors_of_an_answer_are_those_of_the_index(service: SearchService) -> None:
    words = held_words(service)
    for query in QUERIES:
        found = search(service.index, query).rankings["plain"].documents
        exact = service.index.vectors.matrix[found][:, words.column].toarray()
        given = unpacked(describe_candidates(query, service), words.rarity, exact.shape)
        np.testing.assert_allclose(given, exact, rtol=1e-5, atol=0)


def test_documents_without_a_single_occurrence_or_without_a_word_are_exact_too() -> None:
    rarity = np.array([1.0, 2.5, 1.75])
    words = HeldWords(np.array([1, 2, 4]), np.array([-1, 0, 1, -1, 2]), rarity, b"", "")
    times = np.array([[0, 4, 6, 0, 10], [0, 1, 0, 3, 7], [9, 0, 0, 2, 0], [0, 0, 15, 0, 20]])
    weights = times * np.array([1, 1.0, 2.5, 1, 1.75]) * np.array([[0.02], [0.1], [0.3], [0.007]])
    given = unpacked(pack_vectors(csr_array(weights), words), rarity, (4, 3))
    np.testing.assert_allclose(given, weights[:, words.column], rtol=1e-6)


def test_no_term_of_a_profile_is_missing_among_the_words(service: SearchService) -> None:
    used = np.unique(service.own_profile(np.arange(len(service.profiles))).indices)
    assert set(used.tolist()) <= set(held_words(service).column.tolist())


def test_the_answer_is_small_and_the_words_are_asked_for_once(client: FlaskClient) -> None:
    compressed = {"Accept-Encoding": "gzip"}
    answer = client.get("/api/v1/candidates?q=climate+change", headers=compressed)
    assert len(answer.data) < 60_000
    assert answer.headers["Cache-Control"] == "no-store"
    version = client.get("/api/v1/candidates?q=climate+change").json["words"]  # type: ignore[index]
    assert "immutable" in client.get(f"/api/v1/words?version={version}").headers["Cache-Control"]
    assert client.get("/api/v1/words?version=other").headers["Cache-Control"] == "no-store"
    assert client.get("/api/v1/candidates?q=qqqqqq").json["results"] == []  # type: ignore[index]


ORDERS = """async ([queries, profile, weights]) => {
  const { downloadCandidates, inSpace, rank } = await import("/static/candidates.js");
  const made = [];
  for (const query of queries) {
    const found = await downloadCandidates(query);
    for (const weight of weights) {
      const { order, score } = rank(inSpace(new Map(profile), found.known), found, weight);
      made.push([order.map((i) => found.results[i].document), order.map((i) => score[i])]);
    }
  }
  return made;
}"""


@ON_A_DESKTOP
def test_the_order_of_the_browser_is_that_of_the_server(page: Page, service: SearchService) -> None:
    """Where two documents score the same to seven digits, either may be first."""
    weights = (0.3, 0.85, 1)
    page.goto("/")
    for user in np.argsort(-service.profiles.size)[[0, 60, 150]].tolist():
        row = service.own_profile(np.array([user]))
        orders = iter(page.evaluate(ORDERS, [QUERIES, list(service.profiles.of(user).items()), weights]))
        for query in QUERIES:
            for weight in weights:
                expected = search(service.index, query, {"own": row}, weight).rankings["own"]
                documents, scores = next(orders)
                score_of = dict(zip(expected.documents.tolist(), expected.scores.tolist(), strict=True))
                np.testing.assert_allclose(scores, expected.scores, rtol=1e-6, atol=1e-7)
                np.testing.assert_allclose([score_of[document] for document in documents], scores, rtol=1e-6, atol=1e-7)


CANARY = "zugzwang"  # a word of the dictionary that nobody here searches for
TOPICS = ("oil price", "election", "football")


@ON_A_DESKTOP
def test_searches_rank_in_the_page_and_no_request_holds_the_profile(page: Page) -> None:
    """By the device alone, and with a group that the browser picked; those with a word are in test_murmur_said."""
    page.goto("/mine")
    page.locator("[data-part=switch]").check()
    entries = [{"query": f"{CANARY} weather", "opened": ["tournament"], "time": 1}]
    page.evaluate("(entries) => localStorage.setItem('shoal.mine.history', JSON.stringify(entries))", entries)
    sent: list[str] = []
    page.on("request", lambda one: sent.append(f"{one.url} {json.dumps(one.all_headers())} {one.post_data or ''}"))
    page.goto("/")
    for topic in TOPICS:
        ask(page, topic, "nothing of it is sent")
    expect(page.locator(".column")).to_have_count(2)
    page.evaluate("localStorage.setItem('shoal.mine.told', 'true')")
    page.goto("/")
    for topic in TOPICS:
        ask(page, topic, "you search as one of")
        assert "group=p" in page.url
    expect(page.locator(".column")).to_have_count(3)
    assert sum("/api/v1/candidates?" in one for one in sent) == 2 * len(TOPICS)
    assert not any(word in one for one in sent for word in (CANARY, "weather", "tournament"))
    page.locator(".column-personalized .why summary").first.click()
    expect(page.locator(".column-personalized .reason").first).to_contain_text("Score")


def ask(page: Page, topic: str, says: str) -> None:
    expect(page.locator("[data-mine]")).to_contain_text(says)
    page.locator("#q").fill(topic)
    page.keyboard.press("Enter")
    page.wait_for_url(f"**/search?**q={topic.replace(' ', '+')}&**")
    expect(page.locator(".column-personalized .result")).to_have_count(10)
