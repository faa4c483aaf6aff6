"""Is what the pages say of a person and a release true, for methods that drop, widen and publish queries?"""

import json
import re
from datetime import UTC, datetime
from html import unescape
from pathlib import Path

import numpy as np
import pytest
from flask import Flask

from shoal import webapp
from shoal.anonymizer.claims import Verdict
from shoal.anonymizer.registry import make_method
from shoal.anonymizer.release_files import read_release, write_release
from shoal.corpus.knowledge import Knowledge
from shoal.webapp.core.releases import LoadedRelease, Published, publish_beside
from shoal.webapp.core.service import SearchService
from shoal.webapp.searcher.attack import draw_terms, play, target_of
from shoal.webapp.searcher.knows import FATES, GENERALIZED, KEPT, what_is_known
from shoal.webapp.searcher.mine import describe_profiles
from tests.webapp.browser import OpenPage
from tests.webapp.conftest import Server

# One that keeps terms, one that widens them, one that publishes queries, one that publishes nothing.
METHODS = ("random", "partition", "equality", "plain")


@pytest.fixture(scope="module", params=METHODS)
def published(request: pytest.FixtureRequest, app: Flask, tmp_path_factory: pytest.TempPathFactory) -> Published:
    service: SearchService = app.extensions["shoal.service"]
    method = make_method(request.param, {}, Knowledge())
    folder: Path = tmp_path_factory.mktemp("release") / "made"
    write_release(folder, method.run(service.log), method, service.log, 0)
    loaded = LoadedRelease(
        f"test-{request.param}", request.param, {}, method.info.title, {}, Verdict(True), datetime.now(UTC),
        read_release(folder),
    )  # fmt: skip
    return publish_beside(loaded, service.profiles, service.index.vectors)


def test_every_term_and_every_label_is_accounted_for(app: Flask, published: Published) -> None:
    service: SearchService = app.extensions["shoal.service"]
    for person in service.people.find(limit=25):
        known = what_is_known(person, published, service)
        assert {one.term: one.count for one in known.fates} == service.profiles.of(person.row)
        rows = published.profiles_of(person.row)
        weights = published.weights(rows)
        labels = {published.release.labels[t] for t in weights.indices}
        assert {label for label, _, _ in known.after()} == labels
        assert sum(known.share(fate) for fate in FATES) == pytest.approx(1)
        assert known.group_size == (0 if not len(rows) else published.release.users[rows].min())


def test_a_kept_term_is_of_nobody_else_and_a_widened_one_is_below_its_label(app: Flask, published: Published) -> None:
    service: SearchService = app.extensions["shoal.service"]
    tree = published.loaded.stored.knowledge.taxonomy
    for person in service.people.find(limit=25):
        others = published.others(published.profiles_of(person.row), person.row)
        for one in what_is_known(person, published, service).fates:
            if one.fate == KEPT:
                assert all(one.term not in service.profiles.of(int(row)) for row in others)
            if one.fate == GENERALIZED:
                assert tree.node[one.label.lower()] < tree.node[one.term] < tree.end[tree.node[one.label.lower()]]


def test_an_attack_is_right_at_most_as_often_as_the_group_allows(app: Flask, published: Published) -> None:
    service: SearchService = app.extensions["shoal.service"]
    for person in service.people.find(limit=10):
        attack = play(target_of(published), person, draw_terms(person, service.profiles, 5, 0), service)
        size = published.size(published.profiles_of(person.row))
        assert attack.chance <= (1 / size if size else attack.blind) + 1e-12
        assert sum(one.belief for one in attack.candidates) <= 1 + 1e-9
        assert not {one.term for one in attack.beliefs} & set(attack.known)


def test_each_cell_of_the_map_is_the_attack_that_it_leads_to(app: Flask) -> None:
    client, person = app.test_client(), app.extensions["shoal.service"].people.find()[0]
    page = client.get(f"/attack/map?user={person.key}&seed=3").text
    cells = re.findall(r'<td class="heat-(\d)"><a href="([^"]+)">([^<]+)</a>', page)
    assert len(cells) == 8  # profiles as they are, and the active release, by 1, 3, 5 and 10 terms
    for heat, link, word in cells:
        asked = dict(pair.split("=") for pair in unescape(link).partition("?")[2].split("&"))
        told = client.get(f"/api/v1/users/{person.key}/attack", query_string=asked).json
        assert (word == "found") == (told["chance"] > 2 / 3)
        assert (word == "lost in the crowd") == (told["chance"] <= told["blind"] or told["chance"] < 0.02)
        assert int(heat) == sum(told["chance"] >= bound for bound in (0.9, 0.3, 0.1, 0.02))
        assert f"these {asked['m']} terms" in client.get(unescape(link)).text
    assert "found" in {word for _, _, word in cells}
    assert client.get("/attack/map").status_code == 200


def test_the_browser_finds_the_group_of_largest_cosine(
    app: Flask, published: Published, open_page: OpenPage, server: Server
) -> None:
    service: SearchService = app.extensions["shoal.service"]
    profiles = json.loads(json.dumps(describe_profiles(published, service)))
    words = {"climate": 3, "energy": 2, "election": 1, "zzzz": 5}
    with open_page(server.url) as page:
        page.goto("/mine")
        call = "(await import('/static/nearest.js')).nearest(new Map(Object.entries(words)), profiles)"
        found = page.evaluate(f"async ([words, profiles]) => {call}", [words, profiles])
    cosine = _cosines(published, service, words)
    if not len(cosine) or cosine.max() <= 0:
        assert found is None
    else:
        row = published.release.pseudonyms.index(found["group"])
        assert cosine[row] == pytest.approx(cosine.max(), rel=1e-3)


def _cosines(published: Published, service: SearchService, words: dict[str, int]) -> np.ndarray:
    """With every profile spread over the words of the corpus, one dense row at a time."""
    held = published.space
    mine = np.zeros(held.shape[1])
    for word, count in words.items():
        if word in service.index.vectors.vocabulary:
            mine[service.index.vectors.vocabulary[word]] = count
    spread = published.release.weights @ held
    products, lengths = spread @ mine, np.sqrt(np.asarray(spread.multiply(spread).sum(axis=1)).ravel())
    return np.divide(products, lengths * np.linalg.norm(mine), out=np.zeros(len(products)), where=lengths > 0)


def test_no_page_says_of_a_degree_how_many_people_a_query_could_be_of() -> None:
    templates = sorted((Path(webapp.__file__).parent / "templates").rglob("*.html"))
    assert len(templates) > 20
    assert not [path.name for path in templates if "could be of" in path.read_text("utf-8").lower()]
