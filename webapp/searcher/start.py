"""/: what does somebody see first? One query as two people see it, already ranked, and examples to try."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations, islice

import numpy as np
from flask import request
from scipy.sparse import csr_array

from shoal.corpus.knowledge.wordnet import load_wordnet
from shoal.corpus.searches import Search
from shoal.corpus.tokens import STOP_WORDS
from shoal.evaluation.protocol.precision import FEWEST_CANDIDATES
from shoal.search.index import Index
from shoal.search.rerank import best_first, cosines
from shoal.webapp.core.context import service
from shoal.webapp.core.people import Person
from shoal.webapp.core.question import PAGE_SIZE, Asked, read_asked
from shoal.webapp.core.releases import Published
from shoal.webapp.core.service import SearchService
from shoal.webapp.searcher import pages, render

_PEOPLE = 8  # of whom two are shown
_QUERIES = 12  # that are tried
_TITLES = 3
_EXAMPLES = 4
_COMMON = (0.05, 0.4)  # of the people have the term: it means something to several, and not the same to all


@dataclass(frozen=True)
class Side:
    """One of the two people, with what the own profile ranks first, and how much of its first ten the group keeps."""

    person: Person
    documents: tuple[int, ...]
    titles: tuple[str, ...]
    same10: int


@dataclass(frozen=True)
class Showcase:
    query: str
    sides: tuple[Side, Side]


@lru_cache(maxsize=4)
def showcase(published: Published, service: SearchService) -> Showcase | None:
    """The query and the two people whose first pages differ most, while their groups keep most of each."""
    best: tuple[int, Showcase] | None = None
    for query in _shared_terms(service):
        found = service.index.engine.candidates(query).documents
        search = service.index.vectors.search(query, found)
        tops = [_tops(search, person, published, service) for person in service.featured[:_PEOPLE]]
        for a, b in combinations(range(len(tops)), 2):
            (own_a, kept_a), (own_b, kept_b) = tops[a], tops[b]
            score = 4 * (PAGE_SIZE - len(set(own_a) & set(own_b))) + kept_a + kept_b
            if best is None or score > best[0]:
                sides = _side(a, own_a, kept_a, service), _side(b, own_b, kept_b, service)
                best = score, Showcase(query, sides)
    return best[1] if best else None


def _shared_terms(service: SearchService) -> Iterator[str]:
    """Terms of many people, though not of all, that find enough documents; the commonest first."""
    users = np.bincount(service.profiles.counts.indices, minlength=len(service.profiles.terms)) / len(service.people)
    fit = np.flatnonzero((users >= _COMMON[0]) & (users <= _COMMON[1]))
    given = 0
    for term in fit[np.lexsort((fit, -users[fit]))].tolist():
        if given < _QUERIES and len(service.index.engine.candidates(service.profiles.terms[term])) >= FEWEST_CANDIDATES:
            given += 1
            yield service.profiles.terms[term]


def _tops(search: Search, person: Person, published: Published, service: SearchService) -> tuple[tuple[int, ...], int]:
    """The first ten by the own profile, and how many of them are in the first ten by what the release gives."""
    chosen = service.chooser(published, published.profiles_of(person.row), person.row)(search)
    own = _first(search.documents, service.own_row(person.row), service)
    return own, len(set(own) & set(_first(search.documents, chosen, service)))


def _first(found: np.ndarray, profile: csr_array, service: SearchService) -> tuple[int, ...]:
    return tuple(found[best_first(cosines(found, profile, service.index.vectors))][:PAGE_SIZE].tolist())


def _side(place: int, documents: tuple[int, ...], same10: int, service: SearchService) -> Side:
    titles = tuple(service.index.documents.title(document) for document in documents[:_TITLES])
    return Side(service.featured[place], documents[:_TITLES], titles, same10)


def examples(asked: Asked, service: SearchService) -> tuple[str, ...]:
    """What to search for: the person's interests, those of many people, or what the documents are about."""
    if asked.asker.person is not None:
        first, *rest = asked.asker.person.interests or ("",)
        return tuple(filter(None, (" ".join([first, *rest[:1]]), *rest)))
    shared = tuple(islice(_shared_terms(service), _EXAMPLES)) if service.crowd is not None else ()
    return shared or _topics(service.index)


@lru_cache(maxsize=2)
def _topics(index: Index) -> tuple[str, ...]:
    """Nouns that many documents hold, though not all: of those in at most one in ten, the commonest."""
    words = index.engine.lexicon.commonest(max(len(index) // 10, 1))
    nouns = (word for word in words if len(word) > 4 and word not in STOP_WORDS and load_wordnet().lemma(word) == word)
    return tuple(islice(nouns, _EXAMPLES))


@pages.get("/")
def start() -> str:
    asked, here = read_asked(request.args), service()
    shown = showcase(asked.published, here) if here.crowd is not None else None
    return render("start", asked, examples=examples(asked, here), showcase=shown)
