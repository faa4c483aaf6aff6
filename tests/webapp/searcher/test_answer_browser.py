"""Is the answer read, and the dial turned, in a real browser? In words and by the keyboard, on desk and phone."""

import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from shoal.webapp.core.withdrawal import evaluation_folder
from shoal.webapp.database import Job
from shoal.webapp.database.models import DONE, EVALUATION, now
from tests.webapp.browser import DESKTOP, PHONE, OpenPage, TakeScreenshot
from tests.webapp.instances import EVALUATED, NAME, PASSWORD, LiveServer


@pytest.fixture(scope="module")
def answered(live: LiveServer, evaluated: Path) -> LiveServer:
    """A server at which an evaluation was published."""
    task = {"log": 1, "given": EVALUATED, "levels": 3, "thorough": "quick", "methods": ["linkability"]}
    published = {"published_at": now().isoformat(), "settings": 4, "users": 60}
    with live.database.writing() as session:
        job = Job(kind=EVALUATION, state=DONE, task=task, result=published, finished_at=now())
        session.add(job)
        session.flush()
        folder = evaluation_folder(live.settings.instance, job.id)
    shutil.copytree(evaluated, folder)
    return live


@pytest.fixture(params=["desktop", "phone"])
def page(request: pytest.FixtureRequest, open_page: OpenPage, answered: LiveServer) -> Iterator[Page]:
    with open_page(answered.url, DESKTOP if request.param == "desktop" else PHONE) as opened:
        yield opened


def test_the_answer_is_read_and_its_marks_reached_by_the_keyboard(page: Page, take_screenshot: TakeScreenshot) -> None:
    page.goto("/answer")
    for question in ("Which should I take?", "What do I lose?", "Who could find me?"):
        expect(page.get_by_role("heading", name=question)).to_be_visible()
    expect(page.locator(".at-risk tbody tr")).to_have_count(3)
    drawn = page.locator(".picture svg:visible")
    expect(drawn).to_have_count(1)
    box, place = drawn.bounding_box(), page.locator(".picture").bounding_box()
    assert box is not None
    assert place is not None
    assert box["width"] <= place["width"]  # nothing is scrolled for
    mark = drawn.get_by_role("link", name=re.compile("^linkability"))
    mark.focus()
    expect(page.locator("[data-part=tip]")).to_contain_text("ap10 0.")
    take_screenshot(page, f"10-answer-{page.viewport_size['width']}", full_page=True)  # type: ignore[index]
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="What does it not protect?")).to_be_visible()
    assert page.url.endswith("/answer/linkability")


@pytest.mark.parametrize("page", ["desktop"], indirect=True)
def test_the_dial_ranks_again_by_arrow_keys_and_says_what_it_took(
    page: Page, answered: LiveServer, two_releases: list[str]
) -> None:
    page.goto("/admin/")  # an operator may choose among releases that were never active
    page.get_by_label("Name").fill(NAME)
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Log in").click()
    page.goto("/search?q=climate+change&risk=20")
    page.evaluate("window.stayed = true")
    expect(page.locator(".keeps")).to_contain_text(re.compile(r"Keeps \S+( %)? .*in 100 are found"))
    expect(page.locator(".dial-says")).not_to_be_empty()
    page.locator(".dial :checked").focus()
    for _ in range(4):
        page.keyboard.press("ArrowLeft")
    page.wait_for_url(re.compile(r"risk=1(?!\d)"))
    expect(page.locator(".summary .dial-says")).to_contain_text("as safe as 1 in 100")
    expect(page.locator(".column-anonymized")).to_have_count(0)
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    page.wait_for_url("**risk=10**")
    expect(page.locator(".column-anonymized .result")).to_have_count(10)
    assert page.evaluate("window.stayed")
