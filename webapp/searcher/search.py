"""/search: how do the three rankings of one query differ? Plain, personalized and anonymized, side by side.

The strip above the results: what does this group keep of what is personal, for this query and for everybody?

One scale, AP@10 as the evaluation defines it, with three marks: no profile, this group's, the person's own. Rankings
are by the profile alone, whatever the slider says, so that the numbers are those of `shoal evaluate`.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from time import perf_counter
from typing import Any

import numpy as np
from flask import make_response, redirect, request
from flask.typing import ResponseReturnValue
from scipy.sparse import csr_array

from shoal.anonymizer.methods.murmur import heard
from shoal.corpus.searches import Chooser
from shoal.evaluation.measures.base import Rankings
from shoal.evaluation.measures.precision import average_precision, share_kept
from shoal.evaluation.protocol.precision import FEWEST_CANDIDATES, first_by_own
from shoal.search.personal import PLAIN, Found, Result, search
from shoal.search.rerank import Ranking, best_first, row_cosines
from shoal.webapp.core.context import service
from shoal.webapp.core.dial import RISK
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
from shoal.webapp.core.releases import ReleaseSummary
from shoal.webapp.core.service import SearchService
from shoal.webapp.core.tokens import holder
from shoal.webapp.searcher import pages, render

PERSONALIZED, ANONYMIZED = "personalized", "anonymized"
_AS_THEY_ARE = "original"  # the method that publishes profiles as they are


@dataclass(frozen=True)
class Quality:
    """AP@10 of one query under three profiles and none: 1 is what the own profile ranks first."""

    plain: float
    everyone: float
    ap10: float  # of the group's profile
    kept: float
    same10: int  # documents among the first ten of the group's and of the own ranking
    own: float = 1.0


@dataclass(frozen=True)
class Everybody:
    """The same over many people and queries, as it was measured when the release was made."""

    free: float  # the better of plain and everyone's average: what one has for nothing
    ap10: float
    kept: float
    own: float = 1.0


def quality(found: Found, service: SearchService) -> Quality | None:
    """None where there is nothing to compare, or fewer candidates than the protocol asks for."""
    if not {PERSONALIZED, ANONYMIZED} <= set(found.rankings) or len(found) < FEWEST_CANDIDATES:
        return None
    documents = found.rankings[PLAIN].documents[None, :]
    rows = {**found.profiles, "everyone": service.everyone}
    cosine = {name: row_cosines(found.vectors, row) for name, row in rows.items()}
    relevant = first_by_own(cosine[PERSONALIZED][None, :], documents)
    order = dict(zip(cosine, best_first(np.stack([*cosine.values()])), strict=True))
    rankings = Rankings(relevant[0][np.stack([*order.values()])], np.repeat(relevant.sum(axis=1), len(order)))
    ap10 = dict(zip(order, average_precision(rankings).tolist(), strict=True))
    kept = float(share_kept(ap10[ANONYMIZED], max(ap10[PLAIN], ap10["everyone"])))
    own, group = (order[name][:PAGE_SIZE] for name in (PERSONALIZED, ANONYMIZED))
    return Quality(ap10[PLAIN], ap10["everyone"], ap10[ANONYMIZED], kept, int(np.isin(own, group).sum()))


def everybody(release: ReleaseSummary) -> Everybody | None:
    """None where the log had no queries to measure with. What is kept tells what it was counted from."""
    ap10, kept = release.measured.get("ap10"), release.measured.get("kept")
    if ap10 is None or kept is None or kept >= 1:
        return None
    return Everybody((ap10 - kept) / (1 - kept), ap10, kept)


def found_as_they_are(listed: Sequence[ReleaseSummary]) -> float | None:
    """How many are found where profiles are published as they are, if that was measured."""
    return next((one.measured.get(RISK) for one in listed if one.method == _AS_THEY_ARE), None)


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
