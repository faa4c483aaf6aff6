"""What do the tests in a browser stand on? One Chromium, pages that remember nothing, screenshots for who asks."""

import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, BrowserContext, Page, ViewportSize, expect, sync_playwright

if TYPE_CHECKING:
    from tests.webapp.conftest import Server

DESKTOP: ViewportSize = {"width": 1280, "height": 900}
PHONE: ViewportSize = {"width": 390, "height": 844}
# The first is Chromium without what people see around a page: tests take a fifth less of a processor with it.
_PROGRAMS = ("chromium-headless-shell", "chromium", "chromium-browser")
# The last two: pages of one profile share a process, which takes a second of a processor to start.
_FLAGS = (
    "--headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking "
    "--disable-component-update --disable-sync --renderer-process-limit=1 --process-per-site"
)
_PATIENCE = 30_000  # milliseconds: a machine that does other things too is slow, not wrong
OpenPage = Callable[..., AbstractContextManager[Page]]
TakeScreenshot = Callable[..., None]


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    found = next(filter(None, map(shutil.which, _PROGRAMS)), None)
    assert found, f"these tests need Chromium: install the package {_PROGRAMS[0]}, or chromium"
    expect.set_options(timeout=_PATIENCE)
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=found, args=_FLAGS.split())
        yield started
        started.close()


@pytest.fixture(scope="session")
def open_page(browser: Browser) -> Iterator[OpenPage]:
    """A page of a server at a width, where nothing is remembered but, if so asked, that the tour was told.

    If strict, any error in a script, and any request to somebody else, fails the test. The profile is one for each
    server: a page that stays open keeps its process, and what others left is cleared.
    """
    profiles: dict[str, BrowserContext] = {}

    @contextmanager
    def opened(url: str, size: ViewportSize = DESKTOP, toured: bool = True, strict: bool = True) -> Iterator[Page]:
        if url not in profiles:
            profiles[url] = browser.new_context(base_url=url)
            profiles[url].new_page().goto("/static/icon.svg")
        page = _forgetful(profiles[url], url)
        page.set_viewport_size(size)
        page.set_default_timeout(_PATIENCE)
        if toured:
            page.add_init_script("localStorage.setItem('shoal.toured', 'yes')")
        wrong: list[str] = []
        page.on("pageerror", lambda error: wrong.append(str(error)))
        page.on("console", lambda line: wrong.append(line.text) if line.type == "error" else None)
        page.on("request", lambda one: None if one.url.startswith(url) else wrong.append(one.url))
        yield page
        for other in profiles[url].pages[1:]:
            other.close()
        assert not (strict and wrong), wrong

    yield opened
    for profile in profiles.values():
        profile.close()


def _forgetful(profile: BrowserContext, url: str) -> Page:
    """A new page in a profile without cookies and stored values."""
    first = profile.pages[0]
    for left in profile.pages[1:]:  # of a test that failed
        left.close()
    profile.clear_cookies()
    first.evaluate("localStorage.clear()")
    session = profile.new_cdp_session(first)
    session.send("Storage.clearDataForOrigin", {"origin": url, "storageTypes": "all"})
    session.detach()
    return profile.new_page()


@pytest.fixture(params=["desktop", "phone"])
def page(request: pytest.FixtureRequest, open_page: OpenPage, server: "Server") -> Iterator[Page]:
    """A page of the server that most tests share, at each width."""
    with open_page(server.url, DESKTOP if request.param == "desktop" else PHONE) as opened:
        yield opened


def axe_violations(page: Page) -> list[str]:
    """What axe finds wrong with a page: all of its rules in the light; in the dark only the colours are others."""
    found = []
    for scheme, rules in (("light", {}), ("dark", {"runOnly": ["color-contrast"]})):
        page.emulate_media(color_scheme=scheme, reduced_motion="reduce")  # type: ignore[arg-type]
        options: dict[str, Any] = {"resultTypes": ["violations"], **rules}  # to describe what is right takes as long
        found += [one | {"scheme": scheme} for one in Axe().run(page, options=options).response["violations"]]
    return [f"{page.url} ({one['scheme']}): {one['id']}: {one['nodes'][0]['html'][:120]}" for one in found]


def overflow(page: Page, width: int) -> int:
    """By how much a page is wider than a window of that width."""
    page.set_viewport_size({"width": width, "height": 640})
    return int(page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth"))


@pytest.fixture(scope="session")
def take_screenshot() -> TakeScreenshot:
    """Write the page as NAME.png into the folder SHOAL_SCREENSHOTS, if there is one: no test looks at them."""
    folder = os.environ.get("SHOAL_SCREENSHOTS")

    def take(page: Page, name: str, full_page: bool = False) -> None:
        if folder:
            page.screenshot(path=Path(folder) / f"{name}.png", full_page=full_page)

    return take
