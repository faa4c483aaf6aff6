"""/why: why does a result stand where it does, and whose term gave what? Mine alone, shared, or of strangers."""

from dataclasses import dataclass

import numpy as np
from flask import abort, request

from shoal.search.explain import Explanation
from shoal.search.personal import PLAIN
from shoal.webapp.core.context import service
from shoal.webapp.core.question import Asker, Question, read_asked, read_number
from shoal.webapp.core.service import SearchService
from shoal.webapp.searcher import pages, render
from shoal.webapp.searcher.search import PERSONALIZED, search_for

MINE, SHARED, STRANGERS, GROUP = "mine", "shared", "strangers", "group"


@dataclass(frozen=True)
class TermPart:
    """What one profile term gave to a result."""

    term: str
    value: float
    whose: str


@dataclass(frozen=True)
class Reason:
    """Why a document stands at its rank in one column. All parts together are the score."""

    document: int
    column: str
    rank: int
    score: float
    engine: tuple[tuple[str, float], ...]
    profile: tuple[TermPart, ...]
    everyone: tuple[tuple[str, float], ...] = ()

    @property
    def engine_total(self) -> float:
        return sum(value for _, value in self.engine)

    @property
    def everyone_total(self) -> float:
        return sum(value for _, value in self.everyone)

    def total_of(self, whose: str) -> float:
        return sum(part.value for part in self.profile if part.whose == whose)


def give_reason(question: Question, asker: Asker, service: SearchService, document: int, column: str) -> Reason | None:
    """The parts of a document's score in a column; None where the query does not find it there."""
    parts = search_for(question, asker, service).reason(column, document)
    return None if parts is None else _with_owners(parts, column, asker, service)


def _with_owners(parts: Explanation, column: str, asker: Asker, service: SearchService) -> Reason:
    owner = {} if column == PLAIN else owners(column, asker, service)
    rest = GROUP if asker.person is None else STRANGERS
    terms = tuple(TermPart(term, value, owner.get(term, rest)) for term, value in parts.profile)
    return Reason(parts.document, column, parts.rank, parts.score, parts.engine, terms, parts.everyone)


def owners(column: str, asker: Asker, service: SearchService) -> dict[str, str]:
    """Whose each word form is that the person has. Those of strangers are left out."""
    if asker.person is None:
        return {}
    mine = service.own_row(asker.person.row).indices
    forms = service.index.vectors.names(mine)
    if column == PERSONALIZED or asker.published is None:
        return dict.fromkeys(forms, MINE)
    others = asker.published.others(asker.profiles, asker.person.row)
    theirs = np.unique(service.own_profile(others).indices)
    shared = np.isin(mine, theirs)
    return {form: SHARED if also else MINE for form, also in zip(forms, shared, strict=True)}


@pages.get("/why")
def why() -> str:
    asked = read_asked(request.args)
    document = int(read_number(request.args, "document", 0, 0, len(service().index) - 1))
    reason = give_reason(asked.question, asked.asker, service(), document, request.args.get("column", PERSONALIZED))
    if reason is None:
        abort(404)
    title = service().index.documents.title(document)
    return render("why_part" if "part" in request.args else "why", asked, reason=reason, title=title)
