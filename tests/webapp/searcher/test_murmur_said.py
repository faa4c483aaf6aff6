"""Does the page say no word before the person lets it go? A murmur release is active, in a browser with a canary."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from random import Random
from threading import Thread

import numpy as np
import pytest
from flask import Flask
from playwright.sync_api import Page, expect
from scipy.sparse import csr_array
from werkzeug.serving import make_server

from shoal.anonymizer.methods.murmur import heard
from shoal.anonymizer.methods.murmur.answer import choices, probability_of_truth
from shoal.anonymizer.methods.murmur.menu import Menu
from shoal.corpus.searches import Device
from shoal.search.personal import search
from shoal.webapp.core.activation import Consent, activate
from tests.webapp.browser import DESKTOP, PHONE, OpenPage, TakeScreenshot
from tests.webapp.instances import open_panel

CANARY = "zugzwang"  # a word of the dictionary that nobody here searches for


@dataclass(frozen=True)
class Murmuring:
    url: str
    app: Flask
    release_id: str


@pytest.fixture(scope="module")
def murmuring(small_log: Path, tmp_path_factory: pytest.TempPathFactory, in_threads: set[Path]) -> Iterator[Murmuring]:
    """A server in this process whose active release has a catalogue, and nobody's row."""
    instance = tmp_path_factory.mktemp("murmuring")
    in_threads.add(instance)
    panel = open_panel(small_log, instance)
    release_id = f"r{panel.run('murmur', k=5, menu=20, words=2)}"
    activate(panel.app.extensions["shoal.releases"], release_id, Consent(confirmed=True))
    server = make_server("127.0.0.1", 0, panel.app, threaded=True)
    Thread(target=server.serve_forever, daemon=True).start()
    yield Murmuring(f"http://127.0.0.1:{server.server_port}", panel.app, release_id)
    server.shutdown()
    panel.database.close()


@pytest.fixture(scope="module")
def quiet_page(open_page: OpenPage, murmuring: Murmuring) -> Iterator[Page]:
    """One page for all tests here."""
    with open_page(murmuring.url, toured=False) as opened:
        yield opened


def menu_of(murmuring: Murmuring, query: str) -> list[str]:
    answer = murmuring.app.test_client().get("/api/v1/candidates", query_string={"q": query})
    menu = answer.json["menu"]  # type: ignore[index]
    assert (menu["release_id"], menu["most"], menu["epsilon"]) == (murmuring.release_id, 2, None)
    words: list[str] = menu["words"]
    return words


def best_of(murmuring: Murmuring, query: str, typed: str) -> str:
    """What is said by who typed one word only, and that often."""
    service, releases = (murmuring.app.extensions[f"shoal.{name}"] for name in ("service", "releases"))
    published = service.published(releases.get(murmuring.release_id))
    documents = search(service.index, query).rankings["plain"].documents
    here = service.index.vectors.search(query, documents)
    device = Device(here.row({typed: 50.0}), csr_array((1, 1)), Random(0))
    return choices(published.method.offered(here, published.release), device, 2)[1]


def remember(page: Page, *queries: str) -> None:
    """A profile in a browser that has said nothing yet."""
    page.goto("/mine")
    entries = [{"query": query, "opened": [], "time": 1} for query in queries]
    page.evaluate(
        """(entries) => {
          localStorage.clear();
          localStorage.setItem("shoal.toured", "yes");
          localStorage.setItem("shoal.mine.on", "true");
          localStorage.setItem("shoal.mine.history", JSON.stringify(entries));
        }""",
        entries,
    )


def take_pictures(page: Page, take_screenshot: TakeScreenshot) -> None:
    """On a desk and on a phone, light and dark."""
    for size in (PHONE, DESKTOP):
        page.set_viewport_size(size)  # type: ignore[arg-type]
        for scheme in ("dark", "light"):
            page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
            take_screenshot(page, f"5-murmur-{size['width']}-{scheme}")


def test_the_word_is_sent_only_when_it_was_shown_and_let_go(
    quiet_page: Page, murmuring: Murmuring, take_screenshot: TakeScreenshot
) -> None:
    page, queries = quiet_page, ("oil price", "climate change")
    refused, heard_later = (menu_of(murmuring, query) for query in queries)
    shared = [word for word in refused if word in heard_later and not any(word in query for query in queries)]
    own = next(word for word in shared if all(best_of(murmuring, query, word) == word for query in queries))
    remember(page, *[f"{own} {CANARY}"] * 50)
    sent: list[str] = []
    page.on("request", lambda one: sent.append(f"{one.url} {json.dumps(one.all_headers())} {one.post_data or ''}"))
    page.goto(f"/search?q={queries[0].replace(' ', '+')}&mine=1")
    expect(page.locator(".murmur b").first).to_have_text(own)
    assert not any(own in one or CANARY in one for one in sent)
    take_pictures(page, take_screenshot)
    page.locator(".murmur").get_by_role("button", name="Say nothing").click()
    expect(page.locator(".murmur")).to_contain_text("did not hear it")
    page.reload()  # asking again draws nothing anew, and sends nothing
    expect(page.locator(".murmur")).to_contain_text("did not hear it")
    assert not any(own in one for one in sent)
    page.goto(f"/search?q={queries[1].replace(' ', '+')}&mine=1")
    page.get_by_role("button", name=f"Say “{own}”").click()
    page.wait_for_url(f"**word={own}**")
    expect(page.locator("#head-anonymized")).to_contain_text(own)
    expect(page.locator(".murmur")).to_contain_text("1 of 2 different words said")
    page.locator(".ledger summary").click()
    expect(page.locator(".ledger li")).to_have_count(2)
    page.goto(f"/search?q={queries[1].replace(' ', '+')}&mine=1")  # it knows that word of this search already
    page.wait_for_url(f"**word={own}**")
    page.goto("/mine")
    expect(page.locator("[data-part=ledger] summary")).to_have_text("Words ever said: 1")
    assert not any(CANARY in one for one in sent)
    assert all(f"word={own}" in one for one in sent if own in one)


def test_a_word_that_was_said_ranks_and_others_are_refused(murmuring: Murmuring) -> None:
    client, query = murmuring.app.test_client(), "oil price"
    word = menu_of(murmuring, query)[0]
    answer = client.get("/api/v1/search", query_string={"q": query, "word": word}).json
    shown = {one["kind"]: [result["document"] for result in one["results"]] for one in answer["columns"]}  # type: ignore[index]
    service, releases = (murmuring.app.extensions[f"shoal.{name}"] for name in ("service", "releases"))
    index, average = service.index, service.published(releases.get(murmuring.release_id)).average
    beside = {"word": average} if average is not None else {}
    found = search(index, query, {"word": lambda here: heard(here, word)}, None, beside)
    assert shown["anonymized"] == found.rankings["word"].documents[:10].tolist()
    assert client.get("/search", query_string={"q": query, "word": CANARY}).status_code == 404
    assert client.get("/search", query_string={"q": query, "word": word}).status_code == 200


CHOOSE = """async (menus) => {
  const { choices } = await import("/static/murmur.js");
  return menus.map(([menu, own, said]) => choices(menu, own, new Set(said)));
}"""


def test_the_browser_chooses_as_the_method_does(quiet_page: Page, murmuring: Murmuring) -> None:
    rng, given, expected = np.random.default_rng(5), [], []
    for _ in range(40):
        size, many = int(rng.integers(0, 6)), int(rng.integers(1, 100))
        words = [f"w{i}" for i in range(size)]
        pages = np.array([rng.permutation(many)[:10] for _ in words], dtype=np.int64).reshape(size, min(many, 10))
        candidates, own = csr_array(rng.integers(0, 3, (many, 8)).astype(float)), rng.integers(0, 3, (1, 8))
        said = {f"q{i}": word for i, word in enumerate(rng.permutation(words)[: int(rng.integers(0, 4))].tolist())}
        device = Device(csr_array(own), csr_array((1, 8)), Random(0), dict(said))
        options, best = choices(Menu(words, pages, candidates), device, 2)
        expected.append({"options": options, "best": best})
        described = {"words": words, "pages": pages.tolist(), "most": 2}
        given.append([described, (candidates @ own.T).ravel().tolist(), list(said.values())])
    quiet_page.goto("/mine")
    assert quiet_page.evaluate(CHOOSE, given) == expected


DRAW = """async ([epsilon, chances]) => {
  const { fraction, randomized } = await import("/static/murmur.js");
  const drawn = chances.map((two) => randomized("b", ["a", "b", "c", ""], epsilon, () => two.shift()));
  return [drawn, Array.from({ length: 200 }, fraction), randomized("b", ["a", "b"], null)];
}"""


@pytest.mark.parametrize("epsilon", [0.5, 3])
def test_the_browser_draws_with_the_probabilities_of_the_method(quiet_page: Page, epsilon: float) -> None:
    truth = probability_of_truth(4, epsilon)
    chances = [[truth - 1e-9, 0.9], [truth + 1e-9, 0.0], [truth + 1e-9, 0.34], [0.999999, 0.99]]
    quiet_page.goto("/mine")
    drawn, fractions, certain = quiet_page.evaluate(DRAW, [epsilon, chances])
    assert drawn == ["b", "a", "c", ""]
    assert certain == "b"
    assert all(0 <= one < 1 for one in fractions)
    assert len(set(fractions)) == 200
