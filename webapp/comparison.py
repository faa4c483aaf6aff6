"""How do the three rankings of one query differ? Plain, personalized and anonymized, over the same candidates."""

from dataclasses import dataclass
from time import perf_counter

import numpy as np
from scipy.sparse import csr_array

from shoal.evaluation.protocol.metrics import score
from shoal.evaluation.protocol.precision import CANDIDATES, FEWEST_CANDIDATES, RELEVANT
from shoal.search.engines.base import Candidates
from shoal.search.rerank import Ranking, rerank
from shoal.search.snippets import Snippet
from shoal.webapp.links import source_of
from shoal.webapp.people import Person
from shoal.webapp.published import Published
from shoal.webapp.question import PAGE_SIZE, Question
from shoal.webapp.service import SearchService

PLAIN, PERSONALIZED, ANONYMIZED = KINDS = ("plain", "personalized", "anonymized")


@dataclass(frozen=True)
class Result:
    """A document at its rank (1 is the best) in one column, and its rank in every column."""

    document: int
    rank: int
    ranks: dict[str, int]
    score: float
    title: str
    source: str
    date: str
    snippet: Snippet

    @property
    def move(self) -> int:
        """Places gained against the plain ranking."""
        return self.ranks[PLAIN] - self.rank


@dataclass(frozen=True)
class Column:
    kind: str
    results: tuple[Result, ...]


@dataclass(frozen=True)
class Quality:
    """How much of the personalized ranking the anonymized one keeps, for this query."""

    ap10: float
    p10: float
    same10: int  # documents that are among the first ten of both


@dataclass(frozen=True, eq=False)
class Asker:
    """Whose profiles re-rank: a user's own and the published one, a group's, or none."""

    person: Person | None
    published: Published | None
    profiles: np.ndarray  # rows of the release

    def group_size(self) -> int:
        return self.published.size(self.profiles) if self.published is not None else 0


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


def who_asks(question: Question, service: SearchService, published: Published) -> Asker:
    """The user or the group in the question. An unknown one is an error, never somebody else."""
    if question.user:
        person = service.people.get(question.user)
        return Asker(person, published, published.profiles_of(person.row))
    if question.group:
        return Asker(None, published, published.find_group(question.group))
    return Asker(None, None, np.zeros(0, dtype=np.int64))


def profile_rows(asker: Asker, service: SearchService) -> dict[str, csr_array]:
    """The profile that each column is ranked by, in the space of the documents; an empty one for plain."""
    rows = {PLAIN: csr_array((1, service.index.vectors.matrix.shape[1]))}
    if asker.person is not None:
        rows[PERSONALIZED] = service.own_profile(np.array([asker.person.row]))
    if asker.published is not None:
        rows[ANONYMIZED] = asker.published.in_corpus(asker.profiles)
    return rows


def rank_all(question: Question, asker: Asker, service: SearchService) -> dict[str, Ranking]:
    """The same candidates under each profile."""
    return _rank(service.index.engine.candidates(question.query, CANDIDATES), question, asker, service)


def _rank(candidates: Candidates, question: Question, asker: Asker, service: SearchService) -> dict[str, Ranking]:
    vectors = service.index.vectors
    return {
        kind: rerank(candidates, row, vectors, 0.0 if kind == PLAIN else question.weight)
        for kind, row in profile_rows(asker, service).items()
    }


def compare(question: Question, asker: Asker, service: SearchService) -> Comparison:
    """Everything that the search page shows. Only the documents shown are read."""
    clock = _Clock()
    candidates = service.index.engine.candidates(question.query, CANDIDATES)
    clock.lap("engine")
    rankings = _rank(candidates, question, asker, service)
    clock.lap("rerank")
    shown = [kind for kind in rankings if question.view in ("compare", kind)] or [PLAIN]
    columns = _columns(question, rankings, shown, service)
    clock.lap("snippets")
    suggestion = service.index.engine.suggest(question.query) if len(candidates) < PAGE_SIZE else None
    clock.lap("spelling")
    return Comparison(
        question, asker, rankings, columns, len(candidates), quality(rankings), suggestion, clock.laps
    )  # fmt: skip


class _Clock:
    """What each part took."""

    def __init__(self) -> None:
        self.laps: dict[str, float] = {}
        self._last = perf_counter()

    def lap(self, part: str) -> None:
        now = perf_counter()
        self.laps[part], self._last = now - self._last, now


def quality(rankings: dict[str, Ranking]) -> Quality | None:
    """AP@10 and P@10 against the first 30 of the personalized ranking; None where there is too little to measure."""
    if not {PERSONALIZED, ANONYMIZED} <= set(rankings) or len(rankings[PLAIN]) < FEWEST_CANDIDATES:
        return None
    own, group = rankings[PERSONALIZED].documents, rankings[ANONYMIZED].documents
    scores = score(np.isin(group, own[:RELEVANT])[None, :])
    same = int(np.isin(group[:PAGE_SIZE], own[:PAGE_SIZE]).sum())
    return Quality(float(scores.ap10[0]), float(scores.p10[0]), same)


def _columns(
    question: Question, rankings: dict[str, Ranking], shown: list[str], service: SearchService
) -> tuple[Column, ...]:
    places = {
        kind: {int(document): rank for rank, document in enumerate(ranking.documents, start=1)}
        for kind, ranking in rankings.items()
    }
    part = slice((question.page - 1) * PAGE_SIZE, question.page * PAGE_SIZE)
    on_page = {kind: rankings[kind].documents[part].tolist() for kind in shown}
    different = sorted({document for documents in on_page.values() for document in documents})
    snippets = dict(zip(different, service.index.engine.snippets(question.query, different), strict=True))

    def result(kind: str, document: int) -> Result:
        ranks = {other: place[document] for other, place in places.items()}
        shown_document = service.index.documents[document]
        return Result(
            document, ranks[kind], ranks, float(rankings[kind].scores[ranks[kind] - 1]), shown_document.title,
            source_of(shown_document.url), shown_document.date[:10], snippets[document],
        )  # fmt: skip

    return tuple(Column(kind, tuple(result(kind, document) for document in on_page[kind])) for kind in shown)
