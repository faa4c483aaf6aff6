"""How is a search shown? The start page, the compare view, why a result stands where it does, and whom to search as."""

from flask import Blueprint, abort, make_response, redirect, render_template, request
from flask.typing import ResponseReturnValue

from shoal.webapp.comparison import KINDS, PERSONALIZED, compare
from shoal.webapp.context import Asked, read_asked, service, visible_releases
from shoal.webapp.question import clean_query, read_number
from shoal.webapp.whose import give_reason

pages = Blueprint("search", __name__)

_EXAMPLES = ("climate change", "oil price", "central bank", "trade war")
_PEOPLE_PER_PAGE = 48
# Pages that lead on to a person chosen at /people.
_PLACES = ("/", "/search", "/knows", "/attack")


@pages.get("/")
def start() -> str:
    return render("start.html", read_asked(request.args), examples=_EXAMPLES)


@pages.get("/search")
def search() -> ResponseReturnValue:
    asked = read_asked(request.args)
    if not asked.question.query:
        return redirect(asked.question.but(page=1).address("/"))
    sampled = not (asked.question.user or asked.question.group) and service().simulated
    if sampled:  # without a person there is nothing to compare, and a simulated one has nothing to hide
        asked = read_asked({**request.args, "user": service().people.featured[0].key})
    comparison = compare(asked.question, asked.asker, service())
    response = make_response(render("search.html", asked, comparison=comparison, sampled=sampled))
    response.headers["Server-Timing"] = ", ".join(
        f"{part};dur={1000 * seconds:.2f}" for part, seconds in comparison.seconds.items()
    )
    return response


@pages.get("/why")
def why() -> str:
    asked = read_asked(request.args)
    document = int(read_number(request.args, "document", 0, 0, len(service().index) - 1))
    reason = give_reason(asked.question, asked.asker, service(), document, request.args.get("column", PERSONALIZED))
    if reason is None:
        abort(404)
    title = service().index.documents.title(document)
    template = "why_part.html" if "part" in request.args else "why.html"
    return render(template, asked, reason=reason, title=title)


@pages.get("/people")
def people() -> str:
    asked = read_asked(request.args)
    find = clean_query(request.args.get("find", ""))[:100]
    page = int(read_number(request.args, "page", 1, 1, 10))
    found = service().people.find(find, _PEOPLE_PER_PAGE + 1, (page - 1) * _PEOPLE_PER_PAGE)
    to = request.args.get("to", "/")
    return render(
        "people.html", asked, find=find, found=found[:_PEOPLE_PER_PAGE], more=len(found) > _PEOPLE_PER_PAGE,
        to=to if to in _PLACES else "/",
    )  # fmt: skip


def render(template: str, asked: Asked, **more: object) -> str:
    """A page with all that the search box, the picker and the release choice need."""
    here = service()
    return render_template(
        template, question=asked.question, release=asked.release, asker=asked.asker, listed=visible_releases(),
        people=here.people.featured, people_count=len(here.people), simulated=here.simulated, kinds=KINDS,
        corpus=here.index, **more,
    )  # fmt: skip
