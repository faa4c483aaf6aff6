"""Does the visitor's history stay in the browser? Every request, log line and database row is searched for it."""

import json
import sqlite3
from contextlib import closing

import pytest
from playwright.sync_api import Page, Request, expect

from tests.webapp.browser import TakeScreenshot
from tests.webapp.conftest import Server

# Searched for in this order; each word must never be sent again after its own search.
SEARCHES = ("climate summit", "refugee camp", "election fraud")
ON_A_DESKTOP = pytest.mark.parametrize("page", ["desktop"], indirect=True)  # what is kept has no width


def width_of(page: Page) -> str:
    size = page.viewport_size
    assert size is not None
    return "desktop" if size["width"] > 1000 else "phone"


def turn_on(page: Page, group: bool = True) -> None:
    """Remember searches, and tell the server the group that is nearest, if it may be told."""
    page.goto("/mine")
    page.locator("[data-part=switch]").check()
    expect(page.locator("[data-part=state]")).to_contain_text("On")
    page.locator("[data-part=told]").set_checked(group)


def search(page: Page, query: str) -> None:
    page.goto("/")
    page.locator("#q").fill(query)
    page.keyboard.press("Enter")
    page.wait_for_url("**/search?**")
    page.locator(".compare").wait_for()


def stored(page: Page) -> list[dict[str, object]]:
    found: list[dict[str, object]] = json.loads(page.evaluate("localStorage.getItem('shoal.mine.history') || '[]'"))
    return found


@ON_A_DESKTOP
def test_it_is_off_until_it_is_turned_on(page: Page) -> None:
    search(page, "climate summit")
    assert "group=" not in page.url
    assert stored(page) == []
    assert page.context.cookies() == []


def test_searches_and_opened_results_are_kept_and_only_the_group_is_sent(
    page: Page, server: Server, take_screenshot: TakeScreenshot
) -> None:
    turn_on(page)
    search(page, "climate change")
    expect(page.locator("[data-mine]")).to_contain_text("you search as one of")
    expect(page.locator(".column-personalized .result")).to_have_count(10)  # on a phone it comes in front
    title = page.locator(".result h3 a:visible").first.inner_text()
    page.locator(".result h3 a:visible").first.click()
    page.wait_for_url("**/document/**")
    page.go_back()
    expect(page.locator("[data-mine]")).to_contain_text("you search as one of")
    page.locator("#q").fill("oil pipeline")  # from the page of results, where a sampled person was shown
    page.keyboard.press("Enter")
    page.wait_for_url("**q=oil+pipeline**group=p**")
    expect(page.locator(".fish-me")).to_have_count(0)
    assert [one["query"] for one in stored(page)] == ["climate change", "oil pipeline"]
    assert stored(page)[0]["opened"] == [title]
    page.goto("/")
    expect(page.locator("[data-mine]")).to_contain_text("you search as one of")
    page.locator("#q").fill("energy policy")
    page.keyboard.press("Enter")
    page.wait_for_url("**group=p**")
    expect(page.locator(".column")).to_have_count(3)
    if width_of(page) == "phone":
        page.locator("label[for=fold]").click()
    page.locator(".stop", has_text="20").click()
    page.wait_for_url(lambda url: "group=p" in url and "risk=20" in url)
    expect(page.locator(".column")).to_have_count(3)
    page.reload()
    expect(page.locator(".dial input[value='20']")).to_be_checked()
    take_screenshot(page, f"5-search-as-group-{width_of(page)}")
    page.goto("/mine")
    expect(page.locator("[data-part=group]")).to_contain_text("is nearest")
    expect(page.locator("[data-part=sent]")).to_contain_text("group=p")
    take_screenshot(page, f"5-mine-{width_of(page)}", full_page=True)


@ON_A_DESKTOP
def test_one_entry_or_all_can_be_forgotten(page: Page) -> None:
    turn_on(page)
    entries = [{"query": query, "opened": [], "time": 1} for query in SEARCHES]
    page.evaluate("(entries) => localStorage.setItem('shoal.mine.history', JSON.stringify(entries))", entries)
    page.goto("/mine")
    page.get_by_role("button", name=f"Forget {SEARCHES[1]}").click()
    assert [entry["query"] for entry in stored(page)] == [SEARCHES[0], SEARCHES[2]]
    page.get_by_role("button", name="Forget everything").click()
    assert stored(page) == []
    expect(page.locator("[data-part=empty]")).to_be_visible()


@ON_A_DESKTOP
def test_nothing_of_the_history_is_in_any_request_log_line_or_row(page: Page, server: Server) -> None:
    sent: list[tuple[str, str]] = []

    def note(request: Request) -> None:
        sent.append((request.url, json.dumps(request.all_headers()) + (request.post_data or "")))

    turn_on(page)
    page.on("request", note)
    said_before = len(server.said.read_text())
    for query in SEARCHES:
        search(page, query)
        expect(page.locator(".column-personalized .result")).to_have_count(10)
        page.locator(".result h3 a:visible").first.click()
        page.wait_for_url("**/document/*")
    page.goto("/mine")
    expect(page.locator("[data-part=group]")).to_contain_text("is nearest")
    _only_in_its_own_search(sent)
    words = [word for query in SEARCHES for word in query.split()]
    said = server.said.read_text()[said_before:]
    assert not any(word in said for word in words)
    assert not any(word in row for row in _rows(server) for word in words)


def _only_in_its_own_search(sent: list[tuple[str, str]]) -> None:
    for query in SEARCHES:
        first = query.split()[0]
        urls = [url for url, _ in sent if first in url]
        assert urls
        assert all(f"q={query.replace(' ', '+')}" in url for url in urls)
        assert not any(first in rest for _, rest in sent)


def _rows(server: Server) -> list[str]:
    """Every row of every table, as text."""
    with closing(sqlite3.connect(f"file:{server.settings.instance / 'shoal.sqlite3'}?mode=ro", uri=True)) as connection:
        tables = [name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        found = [repr(row) for table in tables for row in connection.execute(f'SELECT * FROM "{table}"')]
    assert found
    return found
