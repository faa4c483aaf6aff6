"""Does an operator get along in a real browser, on a desk and on a phone? Log in, preview, run, compare, switch."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.webapp.browser import DESKTOP, PHONE, OpenPage, TakeScreenshot, axe_violations, overflow
from tests.webapp.instances import NAME, PASSWORD, LiveServer

ON_A_DESKTOP = pytest.mark.parametrize("desk_page", ["desktop"], indirect=True)
LONG = 90_000  # milliseconds: a run in a process of its own


@pytest.fixture(scope="module")
def cookies(open_page: OpenPage, live: LiveServer) -> Any:
    """Those of an operator who logged in."""
    with open_page(live.url) as opened:
        log_in(opened)
        return opened.context.cookies()


@pytest.fixture(params=["desktop", "phone"])
def desk_page(request: pytest.FixtureRequest, open_page: OpenPage, live: LiveServer, cookies: Any) -> Iterator[Page]:
    """Logged in, at each width."""
    with open_page(live.url, DESKTOP if request.param == "desktop" else PHONE) as opened:
        opened.context.add_cookies(cookies)
        yield opened


def log_in(page: Page) -> None:
    page.goto("/admin/")
    page.get_by_label("Name").fill(NAME)
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Log in").click()
    expect(page.get_by_role("heading", name="Overview")).to_be_visible()


@ON_A_DESKTOP
def test_an_operator_previews_a_method_runs_it_and_activates_it(
    desk_page: Page, take_screenshot: TakeScreenshot
) -> None:
    page = desk_page
    page.goto("/admin/")
    page.get_by_role("link", name="Methods", exact=True).click()
    take_screenshot(page, "7-methods", full_page=True)
    page.get_by_role("link", name="Random groups of k users").click()
    expect(page.get_by_text("higher is more private")).to_be_visible()
    page.locator("[name=k]").fill("6")
    take_screenshot(page, "7-form", full_page=True)
    page.get_by_role("button", name="Preview on").click()
    expect(page.get_by_role("heading", name=re.compile("^Preview"))).to_be_visible()
    expect(page.get_by_role("button", name="Run it on all users")).to_be_visible(timeout=LONG)
    expect(page.get_by_role("term").filter(has_text="Smallest group")).to_be_visible()
    take_screenshot(page, "7-preview", full_page=True)
    page.get_by_role("button", name="Run it on all users").click()
    expect(page.get_by_role("heading", name=re.compile("^Run"))).to_be_visible()
    take_screenshot(page, "8-running", full_page=True)
    expect(page.get_by_role("button", name="Activate for everyone")).to_be_visible(timeout=LONG)
    take_screenshot(page, "8-run", full_page=True)
    number = page.url.rsplit("/", 1)[1]
    page.get_by_role("button", name="Activate for everyone").click()
    expect(page.get_by_text(f"r{number} now serves all searchers")).to_be_visible()
    take_screenshot(page, "9-history", full_page=True)
    page.get_by_role("button", name=re.compile("^Roll back to")).click()
    expect(page.get_by_text("serves all searchers again")).to_be_visible()


@ON_A_DESKTOP
def test_runs_are_sorted_chosen_and_compared(
    desk_page: Page, take_screenshot: TakeScreenshot, two_releases: list[str]
) -> None:
    page = desk_page
    page.goto("/admin/runs")
    page.get_by_role("link", name="AP@10").click()
    expect(page.locator("th[aria-sort=descending]")).to_contain_text("AP@10")
    take_screenshot(page, "8-runs", full_page=True)
    for release_id in two_releases:
        page.get_by_label(f"Compare run {release_id[1:]}", exact=True).check()
    page.get_by_role("button", name="Compare the chosen ones").click()
    expect(page.get_by_role("heading", name="2 runs side by side")).to_be_visible()
    take_screenshot(page, "8-compare", full_page=True)


def test_a_point_of_the_plot_is_hovered_chosen_and_activated(
    desk_page: Page, take_screenshot: TakeScreenshot, two_releases: list[str]
) -> None:
    page = desk_page
    page.goto("/admin/")
    current = page.locator(".switches b").first.inner_text()
    wanted = next(one for one in two_releases if one != current)
    point = page.locator(f".plot a[href='/admin/runs/{wanted[1:]}']:visible")
    point.focus()
    expect(page.locator("[data-part=tip]")).to_contain_text(f"{wanted}: ")
    point.dispatch_event("click")
    expect(page.locator("[data-part=chosen]")).to_contain_text(f"{wanted}: ")
    take_screenshot(page, "8-plot", full_page=True)
    page.locator("[data-part=chosen]").get_by_role("button", name="Activate for everyone").click()
    expect(page.get_by_text(f"{wanted} now serves all searchers")).to_be_visible()


@ON_A_DESKTOP
def test_a_log_is_uploaded_with_its_rejected_rows_shown(
    desk_page: Page, take_screenshot: TakeScreenshot, tmp_path: Path
) -> None:
    page = desk_page
    log = tmp_path / "upload.tsv"
    log.write_text("u1\tred wine\t2006-03-01 10:00:00\t\t\nbroken line\n")
    page.goto("/admin/data")
    take_screenshot(page, "9-data", full_page=True)
    page.locator("input[name=log]").set_input_files(log)
    page.get_by_role("button", name="Upload the log").click()
    page.wait_for_url("**/admin/data/jobs/*")
    page.get_by_role("link", name="1 row could not be read").click(timeout=LONG)
    expect(page.get_by_text("wrong number of columns")).to_be_visible()
    take_screenshot(page, "9-rejected", full_page=True)


def test_axe_finds_nothing_in_the_panel_nor_is_it_wider_than_a_phone(
    open_page: OpenPage, live: LiveServer, two_releases: list[str], cookies: Any
) -> None:
    first, second = (one[1:] for one in two_releases)
    paths = ("", "methods", "methods/random", "runs", f"runs/{first}", f"compare?run={first}&run={second}",
             "evaluations", "history", "data", "password", "releases", f"releases/r{first}")  # fmt: skip
    with open_page(live.url) as page:
        page.goto("/admin/login")
        assert axe_violations(page) == []
        page.context.add_cookies(cookies)
        for path in paths:
            page.set_viewport_size(DESKTOP)
            page.goto(f"/admin/{path}")
            assert axe_violations(page) == []
            assert overflow(page, PHONE["width"]) == 0, path


def test_the_panel_works_without_scripts(browser: Browser, live: LiveServer, two_releases: list[str]) -> None:
    with browser.new_context(base_url=live.url, java_script_enabled=False) as context:
        page = context.new_page()
        log_in(page)
        page.locator(f".plot a[href='/admin/runs/{two_releases[0][1:]}']:visible").dispatch_event("click")
        page.wait_for_url(f"**/admin/runs/{two_releases[0][1:]}")
        expect(page.get_by_role("heading", name=re.compile("Random groups"))).to_be_visible()
        page.get_by_role("link", name="profiles.jsonl").wait_for()
        page.get_by_role("button", name="Log out").click()
        expect(page.get_by_role("heading", name="Log in")).to_be_visible()
