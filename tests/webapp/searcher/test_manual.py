"""Is the documentation built without a warning, and shown under /docs by the policy of all pages?"""

import re
import shutil
import warnings
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from flask import Flask
from flask.testing import FlaskClient
from playwright.sync_api import Browser, Route
from sphinx.cmd.build import main as build

from shoal.anonymizer.registry import methods
from shoal.webapp.searcher import manual
from tests.webapp.browser import PHONE

ROOT = Path(__file__).parent.parent.parent.parent
OPENED = ("index.html", "start.html", "made/methods/clump.html", "search.html?q=attacker")
INLINE = re.compile(r"<script>|<style|\sstyle=|\son\w+=")


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The whole site, built from a copy of the documents; any warning fails."""
    folder = tmp_path_factory.mktemp("documents")
    shutil.copytree(ROOT / "docs", folder / "docs", ignore=shutil.ignore_patterns("_build", "made"))
    for page in ROOT.glob("*.md"):
        shutil.copy(page, folder)
    built = folder / "site"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # those of libraries; Sphinx's own are errors by -W
        assert build(["-W", "--keep-going", "-q", str(folder / "docs"), str(built)]) == 0
    return built


@pytest.fixture
def shown(site: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(manual, "SITE", site)


def test_every_method_has_its_page_with_what_it_declares(site: Path) -> None:
    for id, method in methods().items():
        page = (site / "made" / "methods" / f"{id}.html").read_text()
        assert method.info.title.split()[0] in page.replace("’", "'")
        assert all(f">{parameter.name}<" in page for parameter in method.info.parameters)
        assert "mn-picture" in page or "makes no release" in page


def test_the_tutorial_is_a_notebook_that_was_run_up_to_its_picture(site: Path) -> None:
    page = (site / "made" / "tutorial.html").read_text()
    assert "True Every profile is shared by at least 5 users" in page
    assert "linkage5_high" in page
    picture = re.findall(r'src="[./]*(_images/tutorial-\d+\.svg)"', page)
    assert len(picture) == 1
    drawn = (site / picture[0]).read_text()
    assert drawn.startswith("<svg")
    assert all(f">{name}<" in drawn for name in ("random", "common t=3", "original"))
    assert next(site.rglob("tutorial.ipynb"))


def test_no_page_holds_inline_code(site: Path) -> None:
    found = {page.name: INLINE.findall(page.read_text()) for page in site.rglob("*.html")}
    assert {name: code for name, code in found.items() if code} == {}


def test_every_link_leads_to_a_file(site: Path) -> None:
    for page in site.rglob("*.html"):
        for link in re.findall(r'(?:href|src)="([^"#]+)', page.read_text()):
            if not urlsplit(link).scheme:
                assert (page.parent / link.partition("?")[0]).exists(), (page.name, link)


def test_the_server_shows_the_site(shown: None, client: FlaskClient) -> None:
    assert client.get("/docs").headers["Location"] == "/docs/"
    assert "What does k mean here?" in client.get("/docs/start.html", buffered=True).text
    assert client.get("/docs/nothing.html").status_code == 404
    assert client.get("/docs/../conf.py").status_code == 404


def test_where_nobody_built_it_the_server_says_how_to(
    client: FlaskClient, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(manual, "SITE", tmp_path)
    assert "make docs" in client.get("/docs/").text
    assert client.get("/docs/start.html").status_code == 404


def test_pages_keep_the_policy_in_a_browser(shown: None, app: Flask, browser: Browser) -> None:
    """The answers are those of the application, with its headers; what breaks the policy is told to the console."""
    client, wrong = app.test_client(), []

    def answer(route: Route) -> None:
        address = urlsplit(route.request.url)
        got = client.get(f"{address.path}?{address.query}", buffered=True)
        route.fulfill(status=got.status_code, headers=dict(got.headers), body=got.data)

    with browser.new_context(viewport=PHONE, color_scheme="dark", base_url="http://127.0.0.1") as context:
        context.route("**/*", answer)
        page = context.new_page()
        page.on("console", lambda line: wrong.append(line.text) if line.type == "error" else None)
        page.on("pageerror", lambda error: wrong.append(str(error)))
        for name in OPENED:
            page.goto(f"/docs/{name}", wait_until="load")
            assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"], name
        page.wait_for_selector("#search-results li")
    assert wrong == []
