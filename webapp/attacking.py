"""Can an attacker find this person? The linkage attack of the measures, played for one victim on one release."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from scipy.sparse import csr_array

from anonymizer.base import Release
from anonymizer.registry import make_method
from corpus.knowledge import Knowledge
from corpus.profiles import Profiles
from evaluation.attacks.inference import GUESSES
from evaluation.attacks.linkage import evidence
from evaluation.attacks.view import PublishedView
from webapp.people import Person
from webapp.published import Published
from webapp.service import SearchService

SHOWN = 6
# The release to compare with: every profile as it is. It need not have been made by an operator.
ORIGINAL = "original"
_TIE = 1e-9


@dataclass(frozen=True, eq=False)
class Target:
    """What is attacked (the view, all public), and the truth that the attacker does not have (the pairs)."""

    release_id: str
    title: str
    view: PublishedView
    pairs: csr_array

    @property
    def release(self) -> Release:
        return self.view.release


@dataclass(frozen=True)
class Candidate:
    """A published profile that the known terms speak for."""

    pseudonym: str
    users: int
    belief: float  # the attacker's probability that the victim is behind it
    holds: tuple[str, ...]  # the known terms that it publishes
    is_victims: bool


@dataclass(frozen=True)
class Belief:
    """A term that the attacker did not know and now believes."""

    term: str
    weight: float
    true: bool


@dataclass(frozen=True)
class Attack:
    known: tuple[str, ...]
    candidates: tuple[Candidate, ...]
    published: int
    chance: float  # that the user whom the attacker names is the victim
    blind: float  # the same for a guess among all users
    beliefs: tuple[Belief, ...]

    @property
    def found(self) -> bool:
        return bool(self.candidates) and self.candidates[0].is_victims


def target_of(published: Published) -> Target:
    loaded = published.loaded
    return Target(loaded.release_id, loaded.title, _view(published.release, loaded.stored.knowledge), published.pairs)


@lru_cache(maxsize=8)
def _view(release: Release, knowledge: Knowledge) -> PublishedView:
    return PublishedView(release, knowledge)


@lru_cache(maxsize=1)
def original_target(profiles: Profiles, knowledge: Knowledge) -> Target:
    """All profiles as they are."""
    method = make_method(ORIGINAL, {}, knowledge)
    made = method.anonymize(profiles)
    pairs = csr_array(made.assignment.pairs(len(made.release)))
    return Target(ORIGINAL, method.info.title, PublishedView(made.release, knowledge), pairs)


def draw_terms(person: Person, profiles: Profiles, m: int, seed: int) -> list[str]:
    """Draw m of the person's terms without replacement, at their frequencies."""
    own = profiles.of(person.row)
    rng = np.random.default_rng([seed, person.row])
    arrival = rng.exponential(size=len(own)) / np.array(list(own.values()), dtype=float)
    terms = list(own)
    return [terms[i] for i in np.argsort(arrival, kind="stable")[:m]]


def play(target: Target, person: Person, known: Sequence[str], service: SearchService) -> Attack:
    """Score every published profile by the likelihood of the known terms, take the best, name one of its users."""
    blind = 1 / max(len(service.people), 1)
    terms = list(dict.fromkeys(known))
    if not len(target.release) or not terms:
        return Attack(tuple(terms), (), len(target.release), blind, blind, ())
    speaks = evidence(target.view, terms)
    scores = np.asarray(speaks.sum(axis=0)).ravel()
    best = scores >= scores.max() - _TIE
    held = target.pairs[[person.row]].toarray().ravel() > 0
    sharing = np.maximum(target.release.users, 1)
    chance = float(((best & held) / sharing).sum() / best.sum()) if held.any() else blind
    return Attack(
        tuple(terms), _candidates(target, speaks, scores, held, terms), len(target.release), chance, blind,
        _beliefs(target, int(best.argmax()), terms, set(service.profiles.of(person.row))),
    )  # fmt: skip


def _candidates(
    target: Target, speaks: csr_array, scores: np.ndarray, held: np.ndarray, terms: list[str]
) -> tuple[Candidate, ...]:
    """The likeliest profiles; every user is as likely as any other before the terms are known."""
    likely = np.exp(scores - scores.max()) * target.release.users
    belief = likely / likely.sum()
    order = np.lexsort((np.arange(len(scores)), -belief, -scores))[:SHOWN]
    held_terms = csr_array(speaks.T)

    def candidate(row: int) -> Candidate:
        part = held_terms.indices[held_terms.indptr[row] : held_terms.indptr[row + 1]]
        return Candidate(
            target.release.pseudonyms[row], int(target.release.users[row]), float(belief[row]),
            tuple(terms[t] for t in sorted(part.tolist())), bool(held[row]),
        )  # fmt: skip

    return tuple(candidate(int(row)) for row in order)


def _beliefs(target: Target, picked: int, known: list[str], own: set[str]) -> tuple[Belief, ...]:
    """The heaviest terms of the picked profile that were not known: what the attacker now takes for the victim's."""
    terms = target.view.terms
    row = target.view.profiles_over(terms, np.array([picked]))
    weight = {terms[t]: float(w) for t, w in zip(row.indices, row.data, strict=True) if terms[t] not in known}
    heaviest = sorted(weight.items(), key=lambda item: (-item[1], item[0]))[:GUESSES]
    return tuple(Belief(term, value, term in own) for term, value in heaviest)
