"""What does the server know of a person? The page that shows a profile before and after it was anonymized."""

from flask import Blueprint, request

from shoal.webapp.context import read_asked, service
from shoal.webapp.knowing import FATES, what_is_known
from shoal.webapp.pages.search import render

pages = Blueprint("profile", __name__)


@pages.get("/knows")
def knows() -> str:
    asked = read_asked(request.args)
    person = asked.asker.person
    known = what_is_known(person, asked.published, service()) if person is not None else None
    return render("knows.html", asked, known=known, fates=FATES)
