"""How can a visitor have a profile that the server never sees? The page of the browser's own history."""

from flask import Blueprint, render_template

from shoal.corpus.tokens import STOP_WORDS
from shoal.webapp.context import releases

pages = Blueprint("mine", __name__)


@pages.get("/mine")
def mine() -> str:
    """The same for everybody: it takes nothing from the request."""
    return render_template("mine.html", release=releases().current(), stop_words=STOP_WORDS)
