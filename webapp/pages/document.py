"""What does a document say? Shown by ourselves, so that reading it tells nobody else."""

from flask import Blueprint, abort, render_template

from shoal.webapp.context import service
from shoal.webapp.links import safe_link, source_of

pages = Blueprint("document", __name__)


@pages.get("/document/<int:number>")
def read(number: int) -> str:
    documents = service().index.documents
    if number >= len(documents):
        abort(404)
    document = documents[number]
    paragraphs = [part for part in document.text.split("\n") if part.strip()]
    return render_template(
        "document.html", document=document, paragraphs=paragraphs, link=safe_link(document.url),
        source=source_of(document.url), date=document.date[:10],
    )  # fmt: skip
