"""Does a searcher get along in a real browser, on a desk and on a phone? One test for each thing people do."""

import re

import pytest
from playwright.sync_api import Browser, Page, ViewportSize, expect

from tests.webapp.browser import DESKTOP, PHONE, OpenPage, TakeScreenshot, axe_violations, overflow
from tests.webapp.conftest import Server

ON_A_DESKTOP = pytest.mark.parametrize("page", ["desktop"], indirect=True)  # what differs on a phone is tested apart
QUERY = "climate change"
PLACES = (
    "/",
    "/search?q=climate+change&user={}",
    "/knows?user={}",
    "/attack?user={}",
    "/attack/map?user={}",
    "/mine",
    "/people",
    "/api",
    "/no",
)
Width = str


@pytest.fixture
def width(page: Page) -> Width:
    size = page.viewport_size
    assert size is not None
    return "desktop" if size["width"] > 1000 else "phone"


def search_as(page: Page, someone: str, query: str = QUERY, **more: object) -> None:
    extra = "".join(f"&{name}={value}" for name, value in more.items())
    page.goto(f"/search?q={query.replace(' ', '+')}&user={someone}{extra}")


def show(page: Page, kind: str, width: Width) -> None:
    """On a phone a column is behind its tab."""
    if width == "phone":
        page.locator(f"label[for=tab-{kind}]").click()


def open_controls(page: Page, width: Width) -> None:
    """On a phone they are folded, so that results are in view."""
    if width == "phone":
        page.locator("label[for=fold]").click()


def test_a_search_shows_three_columns_with_moves_and_figures(
    page: Page, width: Width, someone: str, take_screenshot: TakeScreenshot
) -> None:
    search_as(page, someone)
    expect(page.locator(".column")).to_have_count(3)
    for kind in ("plain", "personalized", "anonymized"):
        show(page, kind, width)
        expect(page.locator(f".column-{kind}")).to_be_visible()
        expect(page.locator(f".column-{kind} .result")).to_have_count(10)
    expect(page.locator(".column-personalized .move")).to_have_count(10)
    expect(page.locator(".column-plain .move")).to_have_count(0)
    expect(page.locator(".summary")).to_contain_text("AP@10")
    expect(page.locator(".summary")).to_contain_text("share this profile")
    _in_view(page, width)
    take_screenshot(page, f"1-search-{width}")
    take_screenshot(page, f"1-search-whole-{width}", full_page=True)


def _in_view(page: Page, width: Width) -> None:
    """Four results of each column on a small desk, one on a phone, without scrolling."""
    if width == "desktop":
        page.set_viewport_size({"width": 1280, "height": 720})
    for kind in ("plain", "personalized", "anonymized") if width == "desktop" else ("anonymized",):
        box = page.locator(f".column-{kind} .result").nth(3 if width == "desktop" else 0).bounding_box()
        assert box is not None
        assert box["y"] + box["height"] <= (720 if width == "desktop" else PHONE["height"]), kind


@ON_A_DESKTOP
def test_nothing_is_wider_than_the_window(page: Page, someone: str) -> None:
    """Nor than the smallest phone, nor than a desk at twice the size of letters."""
    for place in (*PLACES[:-1], "/document/0"):
        page.goto(place.format(someone))
        assert [overflow(page, width) for width in (320, PHONE["width"], 640)] == [0, 0, 0], place


def test_pointing_at_a_result_shows_the_same_document_elsewhere(
    page: Page, width: Width, someone: str, take_screenshot: TakeScreenshot
) -> None:
    search_as(page, someone, weight=0.3)
    if width == "phone":
        result = page.locator(".column-anonymized .result").first
        expect(result.locator(".places")).to_contain_text("Plain")
        return
    result = page.locator(".column-plain .result").first
    document = result.get_attribute("data-document")
    result.hover()
    lit = page.locator(".same-document")
    expect(lit.first).to_be_visible()
    assert {one.get_attribute("data-document") for one in lit.all()} == {document}
    assert lit.count() >= 2
    page.locator(".column-personalized .result h3 a").nth(1).focus()
    expect(page.locator(".column-personalized .result").nth(1)).to_have_class(re.compile("same-document"))
    take_screenshot(page, f"1-same-document-{width}")


def test_the_slider_ranks_again_without_leaving_the_page(page: Page, width: Width, someone: str) -> None:
    search_as(page, someone)
    page.evaluate("window.stayed = true")
    open_controls(page, width)
    page.locator(".stop", has_text="20").click()
    page.wait_for_url("**risk=20**")
    expect(page.locator("[data-status]")).to_contain_text("in 100")
    expect(page.locator(".columns")).not_to_have_attribute("aria-busy", "true")
    if width == "desktop":
        page.locator(".method summary").click()
        page.locator("select[name=release]").select_option(index=1)
        page.wait_for_url("**release=r**")
        assert page.locator(".dial :checked").count() == 0
        expect(page.locator(".movement")).to_be_attached()
    show(page, "personalized", width)
    slider = page.locator("input[type=range]")
    slider.fill("0")
    page.wait_for_url(re.compile(r"weight=0(?!\.)"))
    expect(page.locator("output")).to_have_text("0 %")
    expect(page.locator(".column-personalized .move.same")).to_have_count(10)
    if width == "phone":
        expect(page.locator(".column-personalized")).to_be_visible()
    assert page.evaluate("window.stayed")
    page.reload()
    expect(page.locator(".column-personalized .move.same")).to_have_count(10)


@ON_A_DESKTOP
def test_the_slider_keeps_reasons_open_and_goes_back_when_nobody_answers(page: Page, someone: str) -> None:
    search_as(page, someone, weight=0.5)
    first = page.locator(".column-plain .result").first
    first.locator(".why summary").click()
    expect(first.locator(".reason")).to_be_visible()
    page.locator("input[type=range]").fill("0.55")
    page.wait_for_url("**weight=0.55**")
    expect(page.locator("[data-status]")).to_contain_text("Ranked again: the profile counts 55 %.")
    expect(page.locator(".column-plain .result").first.locator(".reason")).to_be_visible()
    page.evaluate("() => { window.fetch = () => Promise.reject(new TypeError('offline')); }")
    page.locator("input[type=range]").fill("0.1")
    expect(page.locator("[data-status].failed")).to_contain_text("still those from before")
    expect(page.locator("output").first).to_have_text("55 %")
    assert page.locator("input[type=range]").input_value() == "0.55"


@ON_A_DESKTOP
def test_why_opens_in_place_and_says_whose_each_term_is(
    page: Page, someone: str, take_screenshot: TakeScreenshot
) -> None:
    search_as(page, someone, weight=0.95)
    result = page.locator(".column-anonymized .result").first
    result.locator(".why summary").click()
    expect(result.locator(".reason-total")).to_contain_text("Score")
    expect(result.locator(".reason")).to_contain_text("words of the query")
    expect(result.locator(".reason")).to_contain_text(re.compile("mine|strangers"))
    result.scroll_into_view_if_needed()
    take_screenshot(page, "2-why")


@ON_A_DESKTOP
def test_keys_lead_to_the_box_and_through_the_results(page: Page, someone: str) -> None:
    search_as(page, someone)
    page.keyboard.press("/")
    expect(page.locator("#q")).to_be_focused()
    page.keyboard.press("ArrowDown")
    column = page.locator(".column-anonymized .result h3 a")
    expect(column.nth(0)).to_be_focused()
    page.keyboard.press("ArrowDown")
    expect(column.nth(1)).to_be_focused()
    page.keyboard.press("ArrowLeft")
    expect(page.locator(".column-personalized .result h3 a").nth(1)).to_be_focused()
    page.keyboard.press("Enter")
    page.wait_for_url("**/document/*")
    expect(page.locator("article h1")).to_be_visible()


@ON_A_DESKTOP
def test_a_misspelt_query_leads_to_the_right_one(page: Page) -> None:
    page.goto("/search?q=immigrattion")
    page.locator(".suggestion a").click()
    page.wait_for_url("**/search?q=immigration**")
    expect(page.locator(".column-anonymized .result").first).to_be_visible()


@ON_A_DESKTOP
def test_pages_of_results_can_be_walked(page: Page, someone: str) -> None:
    search_as(page, someone)
    page.locator(".paging a[rel=next]").click()
    page.wait_for_url("**page=2**")
    expect(page.locator(".column-anonymized .rank").first).to_contain_text("11")


@ON_A_DESKTOP
def test_the_page_tells_what_the_server_knows(page: Page, someone: str, take_screenshot: TakeScreenshot) -> None:
    page.goto(f"/knows?user={someone}")
    expect(page.locator("h1")).to_have_text("What the server knows")
    expect(page.locator(".badge-good")).to_contain_text("Checked on the published data at")
    expect(page.locator(".fishes")).to_be_visible()
    expect(page.locator(".before-after")).to_contain_text(re.compile("kept|blended"))
    take_screenshot(page, "3-knows", full_page=True)


@ON_A_DESKTOP
def test_an_attack_is_played_and_repeated_elsewhere_by_one_click(
    page: Page, someone: str, take_screenshot: TakeScreenshot
) -> None:
    page.goto(f"/attack?user={someone}&m=10")
    expect(page.locator(".outcome")).to_contain_text("chance to be named")
    take_screenshot(page, "4-attack", full_page=True)
    known = sorted(page.locator(".chip input:checked").evaluate_all("all => all.map(one => one.value)"))
    page.locator(".elsewhere a").first.click()
    page.wait_for_url("**release=original**")
    assert sorted(page.locator(".chip input:checked").evaluate_all("all => all.map(one => one.value)")) == known
    expect(page.locator(".outcome-figure")).to_contain_text("100 %")
    take_screenshot(page, "4-attack-original", full_page=True)
    for term in known[1:]:
        page.locator(f".chip input[value='{term}']").uncheck()
    page.get_by_role("button", name="Attack with the chosen terms").click()
    expect(page.locator(".chip input:checked")).to_have_count(1)


def test_a_person_is_found_by_an_interest(page: Page, width: Width, take_screenshot: TakeScreenshot) -> None:
    page.goto("/")
    expect(page.locator(".starters")).to_contain_text("simulated users")
    page.locator(".picker summary").click()
    page.locator(".picker-find input").fill("climate")
    expect(page.locator(".picker-list .interests").first).to_be_visible()
    page.wait_for_timeout(400)
    take_screenshot(page, f"6-picker-{width}")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    page.wait_for_url("**user=**")
    expect(page.locator(".picker-who strong")).not_to_have_text("nobody")
    page.locator("#q").fill(QUERY)
    page.keyboard.press("Enter")
    expect(page.locator(".column")).to_have_count(3)


@pytest.mark.parametrize("size", [DESKTOP, PHONE], ids=["desktop", "phone"])
def test_the_tour_is_told_once(
    open_page: OpenPage, server: Server, size: ViewportSize, take_screenshot: TakeScreenshot
) -> None:
    with open_page(server.url, size, toured=False) as page:
        page.goto("/")
        expect(page.locator(".tour")).to_contain_text("1 of 4")
        page.keyboard.type("oil")
        expect(page.locator("#q")).to_have_value("oil")
        assert not _overlap(page, ".tour", ".examples")
        take_screenshot(page, f"6-tour-{size['width']}")
        for _ in range(4):
            page.locator(".tour .primary").click()
        expect(page.locator(".tour")).to_have_count(0)
        page.reload()
        expect(page.locator(".tour")).to_have_count(0)
        page.locator("[data-tour]").click()
        expect(page.locator(".tour")).to_be_visible()
        page.keyboard.press("Escape")
        expect(page.locator(".tour")).to_have_count(0)


def test_all_of_it_works_without_scripts(browser: Browser, server: Server, someone: str) -> None:
    """On a phone, where tabs show one column at a time."""
    with browser.new_context(viewport=PHONE, base_url=server.url, java_script_enabled=False) as context:
        page = context.new_page()
        page.goto("/")
        page.locator(".starters .person").first.click()
        page.locator("#q").fill(QUERY)
        page.get_by_role("button", name="Search").click()
        expect(page.locator(".column")).to_have_count(3)
        page.locator("label[for=tab-plain]").click()
        assert page.locator(".column-plain").is_visible()
        assert not page.locator(".column-anonymized").is_visible()
        page.locator(".column-plain .why summary").first.click()
        page.locator(".column-plain .why-body a").first.click()
        expect(page.locator("h1")).to_contain_text("Why is this at rank 1?")
        page.goto(f"/attack?user={someone}")
        page.get_by_role("button", name="Attack with the chosen terms").click()
        assert page.locator(".outcome").is_visible()
        page.goto("/mine")
        assert "This needs scripts" in page.locator("noscript, .card").first.inner_text()


def test_axe_finds_nothing_wrong(open_page: OpenPage, server: Server, someone: str) -> None:
    found = []
    with open_page(server.url, strict=False) as page:  # one of the pages is not there
        for place in PLACES:
            page.goto(place.format(someone))
            if place.startswith("/search"):
                page.locator(".why summary").first.click()
                page.locator(".reason").first.wait_for()
            found += axe_violations(page)
    assert not found


def _overlap(page: Page, one: str, other: str) -> bool:
    a, b = (page.locator(part).bounding_box() for part in (one, other))
    assert a is not None
    assert b is not None
    beside = a["x"] >= b["x"] + b["width"] or b["x"] >= a["x"] + a["width"]
    return not (beside or a["y"] >= b["y"] + b["height"] or b["y"] >= a["y"] + a["height"])
