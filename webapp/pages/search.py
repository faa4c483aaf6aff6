"""How is a search shown? The start page, the compare view, and why a result stands where it does."""

from flask import Blueprint, redirect, render_template, request
from flask.typing import ResponseReturnValue

from webapp.comparison import KINDS, compare
from webapp.context import Asked, read_asked, releases, service
from webapp.question import PAGES

pages = Blueprint("search", __name__)

_EXAMPLES = ("climate change", "football transfer", "north korea missile", "health care vote")


@pages.get("/")
def start() -> str:
    return _render("start.html", read_asked(request.args), examples=_EXAMPLES)


@pages.get("/search")
def search() -> ResponseReturnValue:
    asked = read_asked(request.args)
    if not asked.question.query:
        return redirect(asked.question.but(page=1).address("/"))
    return _render("search.html", asked, comparison=compare(asked.question, asked.asker, service()), pages=PAGES)


def _render(template: str, asked: Asked, **more: object) -> str:
    return render_template(
        template, question=asked.question, release=asked.release, asker=asked.asker, listed=releases().listed(),
        people=service().people.find(limit=12), simulated=service().simulated, kinds=KINDS, corpus=service().index,
        people_count=len(service().people), **more,
    )  # fmt: skip
