"""What does a searcher see? A module for each address; here what their pages share."""

from flask import Blueprint, render_template

from shoal.webapp.core.context import service
from shoal.webapp.core.question import Asked, visible_releases

pages = Blueprint("searcher", __name__)


def render(page: str, asked: Asked, **more: object) -> str:
    """A page with all that the search box, the picker and the release choice need."""
    here = service()
    common = {"question": asked.question, "release": asked.release, "asker": asked.asker, "listed": visible_releases()}
    common |= {"people": here.people.featured, "people_count": len(here.people)}
    return render_template(f"searcher/{page}.html", simulated=here.simulated, corpus=here.index, **common, **more)
