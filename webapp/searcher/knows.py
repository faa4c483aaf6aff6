"""/knows: what does the server know of a person? The profile before and after: kept, blended, generalized, dropped."""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from flask import request

from shoal.anonymizer.base import Release
from shoal.corpus.knowledge import Knowledge
from shoal.corpus.knowledge.taxonomy import bag_members, is_bag
from shoal.webapp.core.context import service
from shoal.webapp.core.people import Person
from shoal.webapp.core.question import read_asked
from shoal.webapp.core.releases import Published
from shoal.webapp.core.service import SearchService
from shoal.webapp.searcher import pages, render

KEPT, BLENDED, GENERALIZED, DROPPED = FATES = ("kept", "blended", "generalized", "dropped")
FOREIGN = "foreign"


@dataclass(frozen=True)
class Fate:
    """What became of one of the person's terms. `label` is what is published for it, if anything is."""

    term: str
    count: int
    fate: str
    label: str = ""
    weight: float = 0.0


@dataclass(frozen=True)
class Foreign:
    """A published label that stands for nothing of the person's."""

    label: str
    weight: float
    generalized: bool


@dataclass(frozen=True)
class ReleasedQuery:
    query: str
    count: int
    degree: int  # how many users the method puts behind it, not how many could have typed it


@dataclass(frozen=True)
class Known:
    person: Person
    pseudonyms: tuple[str, ...]
    group_size: int
    fates: tuple[Fate, ...]
    foreign: tuple[Foreign, ...]
    queries: tuple[ReleasedQuery, ...] = ()  # what a query method publishes of the person

    def after(self) -> list[tuple[str, float, str]]:
        """Every published label with its weight and whose it is, the heaviest first."""
        own: dict[str, tuple[str, float, str]] = {}
        for one in self.fates:
            if one.label:
                own.setdefault(one.label, (one.label, one.weight, one.fate))
        foreign = [(one.label, one.weight, FOREIGN) for one in self.foreign]
        return sorted([*own.values(), *foreign], key=lambda row: (-row[1], row[0]))

    def share(self, fate: str) -> float:
        """The share of the person's term occurrences that this became of."""
        total = sum(one.count for one in self.fates)
        return sum(one.count for one in self.fates if one.fate == fate) / total if total else 0.0

    def number(self, fate: str) -> int:
        return sum(one.fate == fate for one in self.fates)


def what_is_known(person: Person, published: Published, service: SearchService) -> Known:
    profiles = published.profiles_of(person.row)
    weights = _published_weights(published, profiles)
    general = generalized_labels(published.release)
    theirs = _terms_of(published.others(profiles, person.row), service)
    cover = Cover({label for label in weights if label in general}, published.loaded.stored.knowledge)
    own = sorted(service.profiles.of(person.row).items(), key=lambda item: (-item[1], item[0]))
    fates = tuple(_fate(term, count, weights, general, theirs, cover) for term, count in own)
    used = {fate.label for fate in fates}
    foreign = (Foreign(label, weight, label in general) for label, weight in weights.items() if label not in used)
    ordered = tuple(sorted(foreign, key=lambda one: (-one.weight, one.label)))
    names = tuple(published.release.pseudonyms[row] for row in profiles)
    return Known(person, names, published.size(profiles), fates, ordered, _queries(published, profiles))


def _queries(published: Published, profiles: np.ndarray) -> tuple[ReleasedQuery, ...]:
    """The published queries of these profiles, those asked most first."""
    queries = published.release.queries
    if queries is None:
        return ()
    rows = np.flatnonzero(np.isin(queries.pseudonym, profiles))
    rows = rows[np.argsort(-queries.count[rows], kind="stable")]
    texts = queries.query.gather(rows).to_list()
    columns = zip(texts, queries.count[rows].tolist(), queries.degree[rows].tolist(), strict=True)
    return tuple(ReleasedQuery(text, count, degree) for text, count, degree in columns)


def _fate(
    term: str, count: int, weights: dict[str, float], general: frozenset[str], theirs: frozenset[str], cover: "Cover"
) -> Fate:
    if term in weights and term not in general:
        return Fate(term, count, BLENDED if term in theirs else KEPT, term, weights[term])
    label = cover.over(term)
    return Fate(term, count, GENERALIZED, label, weights[label]) if label else Fate(term, count, DROPPED)


class Cover:
    """The nearest published label that stands for a term."""

    def __init__(self, labels: set[str], knowledge: Knowledge) -> None:
        self._bags = {term: label for label in sorted(labels) if is_bag(label) for term in bag_members(label)}
        self._tree = {label.lower(): label for label in labels if not is_bag(label)}
        self._knowledge = knowledge

    def over(self, term: str) -> str:
        if term in self._bags or not self._tree:
            return self._bags.get(term, "")
        taxonomy = self._knowledge.taxonomy
        leaf = taxonomy.leaf(term)
        above = [] if leaf is None else (taxonomy.labels[v].lower() for v in taxonomy.path(leaf))
        return next((self._tree[label] for label in above if label in self._tree), "")


def _published_weights(published: Published, profiles: np.ndarray) -> dict[str, float]:
    row = published.weights(profiles)
    return {published.release.labels[t]: float(w) for t, w in zip(row.indices, row.data, strict=True)}


@lru_cache(maxsize=8)
def generalized_labels(release: Release) -> frozenset[str]:
    return frozenset(release.labels[t] for t in np.flatnonzero(release.generalized))


def _terms_of(users: np.ndarray, service: SearchService) -> frozenset[str]:
    used = np.unique(service.profiles.counts[users].indices)
    return frozenset(service.profiles.terms[t] for t in used)


@pages.get("/knows")
def knows() -> str:
    asked = read_asked(request.args)
    person = asked.asker.person
    known = what_is_known(person, asked.published, service()) if person is not None else None
    return render("knows", asked, known=known, fates=FATES)
