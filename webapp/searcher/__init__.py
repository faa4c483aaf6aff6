"""What does a searcher see? A module for each address; here what their pages share."""

from apiflask import APIBlueprint
from flask import render_template, request

from shoal.webapp.core.context import database, service
from shoal.webapp.core.dial import RISKS
from shoal.webapp.core.question import Asked, visible_releases
from shoal.webapp.jobs.levels import levels_under_way

pages = APIBlueprint("searcher", __name__, enable_openapi=False)
_OF_PEOPLE = {"searcher.people", "searcher.knows", "searcher.attack", "searcher.attack_map"}


@pages.before_request
def only_where_people_are_shown() -> None:
    """The demonstration exists for simulated and public people; where they are real, there are no such pages."""
    if request.endpoint in _OF_PEOPLE:
        _ = service().people


@pages.app_context_processor
def shown_everywhere() -> dict[str, object]:
    return {"shows_people": service().crowd is not None}


def render(page: str, asked: Asked, **more: object) -> str:
    """A page with all that the search box, the picker and the release choice need."""
    here = service()
    common = {"question": asked.question, "release": asked.release, "asker": asked.asker, "listed": visible_releases()}
    common |= {"making": levels_under_way(database(), here.digest)}
    common |= {"people": here.featured, "people_count": len(here.people) if here.crowd is not None else 0}
    common |= {"choice": asked.choice, "risks": RISKS, "weight": asked.asker.weight(asked.question)}
    return render_template(f"searcher/{page}.html", people_kind=here.people_kind, corpus=here.index, **common, **more)
