"""/search: how do the three rankings of one query differ? Plain, personalized and anonymized, side by side."""

from dataclasses import dataclass, replace
from time import perf_counter
from typing import Any

from flask import make_response, redirect, request
from flask.typing import ResponseReturnValue
from scipy.sparse import csr_array

from shoal.anonymizer.methods.murmur import heard
from shoal.corpus.searches import Chooser
from shoal.search.personal import PLAIN, Found, Result, search
from shoal.search.rerank import Ranking
from shoal.webapp.core.context import service
from shoal.webapp.core.formats import source_of
from shoal.webapp.core.question import (
    PAGE_SIZE,
    Asked,
    Asker,
    Question,
    look_up,
    read_question,
    visible_releases,
)
from shoal.webapp.core.service import SearchService
from shoal.webapp.core.tokens import holder
from shoal.webapp.searcher import pages, render
from shoal.webapp.searcher.strip import ANONYMIZED, PERSONALIZED, Quality, everybody, found_as_they_are, quality

KINDS = (PLAIN, PERSONALIZED, ANONYMIZED)


@dataclass(frozen=True)
class ShownResult(Result):
    """A result with what is shown of its document."""

    title: str
    source: str
    date: str

    @property
    def move(self) -> int:
        """Places gained against the plain ranking."""
        return self.ranks[PLAIN] - self.rank


@dataclass(frozen=True)
class Column:
    kind: str
    results: tuple[ShownResult, ...]


@dataclass(frozen=True, eq=False)
class Comparison:
    question: Question
    asker: Asker
    rankings: dict[str, Ranking]
    columns: tuple[Column, ...]
    found: int
    quality: Quality | None
    suggestion: str | None
    seconds: dict[str, float]  # what each part of the work took

    @property
    def pages(self) -> int:
        return -(-self.found // PAGE_SIZE)


def search_for(question: Question, asker: Asker, service: SearchService) -> Found:
    """The same candidates under each profile of who asks."""
    profiles: dict[str, csr_array | Chooser] = {}
    user = asker.person.row if asker.person is not None else None
    if user is not None:
        profiles[PERSONALIZED] = service.own_row(user)
    if asker.word:
        profiles[ANONYMIZED] = lambda here: heard(here, asker.word)
    elif asker.published is not None:
        profiles[ANONYMIZED] = service.chooser(asker.published, asker.profiles, user)
    average = asker.published.average if asker.published is not None else None
    averages = {ANONYMIZED: average} if average is not None else {}
    return search(service.index, question.query, profiles, asker.weight(question), averages)


def compare(question: Question, asker: Asker, service: SearchService) -> Comparison:
    """Everything that the search page shows. Only the documents shown are read."""
    found = search_for(question, asker, service)
    started = perf_counter()
    columns = _columns(question, found, service)
    shown = perf_counter()
    suggestion = service.index.engine.suggest(question.query) if len(found) < PAGE_SIZE else None
    seconds = {**found.seconds, "snippets": shown - started, "spelling": perf_counter() - shown}
    return Comparison(
        question, asker, found.rankings, columns, len(found), quality(found, service), suggestion, seconds
    )  # fmt: skip


def _columns(question: Question, found: Found, service: SearchService) -> tuple[Column, ...]:
    kinds = [kind for kind in found.rankings if question.view in ("compare", "titles", kind)] or [PLAIN]
    part = slice((question.page - 1) * PAGE_SIZE, question.page * PAGE_SIZE)
    shown = found.results(kinds, part)
    about = {result.document for results in shown.values() for result in results}
    told = {document: _about(document, service) for document in about}  # once, however many columns it is in
    return tuple(
        Column(kind, tuple(ShownResult(**vars(result), **told[result.document]) for result in shown[kind]))
        for kind in kinds
    )


def with_document(result: Result, service: SearchService) -> ShownResult:
    return ShownResult(**vars(result), **_about(result.document, service))


def _about(document: int, service: SearchService) -> dict[str, Any]:
    title, url, date = service.index.documents.about(document)
    return {"title": title, "source": source_of(url), "date": date[:10]}


def look_up_or_sample(question: Question) -> tuple[Asked, bool]:
    """Where nobody was picked, somebody is shown, so that there is something to compare; a simulated one only.

    A browser that ranks by its own profile says `mine`, and has that to compare. The question stays
    nobody's: who is shown gets into no form and no link, and a browser's own group may follow.
    """
    own = question.user or question.group or question.word or holder() or "mine" in request.args
    sampled = not own and service().simulated
    if not sampled:
        return look_up(question), False
    return replace(look_up(question.but(user=service().featured[0].key)), question=question), True


@pages.get("/search", endpoint="search")
def search_page() -> ResponseReturnValue:
    question = read_question(request.args)
    if not question.query:
        return redirect(question.but(page=1).address("/"))
    asked, sampled = look_up_or_sample(question)
    comparison = compare(question, asked.asker, service())
    strip = {"everybody": everybody(asked.release), "as_they_are": found_as_they_are(visible_releases())}
    response = make_response(render("search", asked, comparison=comparison, sampled=sampled, **strip))
    response.headers["Server-Timing"] = ", ".join(
        f"{part};dur={1000 * seconds:.2f}" for part, seconds in comparison.seconds.items()
    )
    return response
