"""/document: what does a document say? Shown by ourselves, so that reading it tells nobody else."""

from flask import abort, render_template, request

from shoal.webapp.core.context import service
from shoal.webapp.core.formats import safe_link, source_of
from shoal.webapp.core.question import read_question
from shoal.webapp.searcher import pages


@pages.get("/document/<int:number>")
def document(number: int) -> str:
    """The address holds the search that led here, for the way back."""
    documents = service().index.documents
    if number >= len(documents):
        abort(404)
    found = documents[number]
    paragraphs = [part for part in found.text.split("\n") if part.strip()]
    about = {"link": safe_link(found.url), "source": source_of(found.url), "date": found.date[:10]}
    question = read_question(request.args)
    return render_template("searcher/document.html", document=found, paragraphs=paragraphs, question=question, **about)
