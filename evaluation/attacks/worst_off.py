"""Who is worst off, and why? The victims whom the linkage attack finds most surely, and what they have in common."""

from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array

from shoal.anonymizer.base import Assignment
from shoal.evaluation.attacks.linkage import Linkage, profiles_of
from shoal.evaluation.attacks.victims import Victims
from shoal.evaluation.attacks.view import PublishedView

PARTS = 4  # of the victims, by each property


@dataclass(frozen=True)
class AtRisk:
    """A victim as the prosecutor sees one, with what makes the person easy to find."""

    user: str
    risk: float  # the chance that the attacker names this person
    terms: int  # distinct terms of the own profile
    group: int  # users behind the published profile; of several the fewest; 0 without one
    rarest: str  # of the known terms, the one that fewest users have
    rarest_users: int
    published: bool  # whether something in the victim's profile stands for that term


@dataclass(frozen=True)
class RiskBy:
    """The risk of the victims between two values of a property."""

    property: str
    low: float
    high: float
    victims: int
    mean: float
    largest: float


def worst_off(
    view: PublishedView, assignment: Assignment, victims: Victims, known: csr_array, linked: Linkage, most: int = 10
) -> list[AtRisk]:
    """The victims at most risk, the worst first; of equal ones those whose rarest known term fewest users have."""
    facts = _facts(view, assignment, victims, known)
    order = np.lexsort((facts.rarest_users, -linked.success))[:most]
    names = victims.profiles.users.gather(victims.user[order]).to_list()
    published = _published(view, assignment, victims, facts.rarest)
    return [
        AtRisk(
            name, float(linked.success[v]), int(facts.terms[v]), int(facts.group[v]),
            victims.profiles.terms[facts.rarest[v]], int(facts.rarest_users[v]), bool(published[v]),
        )
        for name, v in zip(names, order.tolist(), strict=True)
    ]  # fmt: skip


def risk_by_property(
    view: PublishedView, assignment: Assignment, victims: Victims, known: csr_array, linked: Linkage
) -> list[RiskBy]:
    """The risk of quarters of the victims: by the size of their profile, of their group, and by their rarest term.

    Victims of one value stay together, so that a part may hold more than a quarter, and there may be fewer parts.
    """
    facts = _facts(view, assignment, victims, known)
    told = {
        "terms of the profile": facts.terms,
        "users of the group": facts.group,
        "users of the rarest known term": facts.rarest_users,
    }
    return [part for name, values in told.items() for part in _parts(name, values, linked.success)]


@dataclass(frozen=True, eq=False)
class _Facts:
    terms: np.ndarray
    group: np.ndarray
    rarest: np.ndarray  # a term of the profiles
    rarest_users: np.ndarray


def _facts(view: PublishedView, assignment: Assignment, victims: Victims, known: csr_array) -> _Facts:
    profiles = victims.profiles
    users = np.bincount(profiles.counts.indices, minlength=len(profiles.terms))
    row = np.repeat(np.arange(len(victims)), np.diff(known.indptr))
    rare = np.lexsort((known.indices, users[known.indices], row))  # every victim knows some term: the first is rarest
    rarest = known.indices[rare[known.indptr[:-1]]]
    held = profiles_of(victims, assignment, len(view.release))
    return _Facts(profiles.size[victims.user], _smallest_group(held, view.release.users), rarest, users[rarest])


def _smallest_group(held: csr_array, users: np.ndarray) -> np.ndarray:
    smallest = np.full(held.shape[0], np.iinfo(np.int64).max)
    np.minimum.at(smallest, np.repeat(np.arange(held.shape[0]), np.diff(held.indptr)), users[held.indices])
    return np.where(np.diff(held.indptr) > 0, smallest, 0)


def _published(view: PublishedView, assignment: Assignment, victims: Victims, term: np.ndarray) -> np.ndarray:
    """Whether a profile of each victim holds this term of theirs."""
    if len(view.release) == 0:
        return np.zeros(len(victims), dtype=bool)
    used, place = np.unique(term, return_inverse=True)
    holds = csr_array(view.profiles_over([victims.profiles.terms[t] for t in used]).T)
    holds.data = (holds.data > 0).astype(float)
    both = csr_array(profiles_of(victims, assignment, len(view.release)).multiply(holds[place]))
    return np.asarray(both.sum(axis=1)).ravel() > 0


def _parts(name: str, values: np.ndarray, risk: np.ndarray) -> list[RiskBy]:
    edges = np.unique(np.quantile(values, np.arange(1, PARTS) / PARTS, method="lower")) if len(values) else values
    part = np.searchsorted(edges, values, side="left")
    return [
        RiskBy(
            name, float(values[here].min()), float(values[here].max()), int(here.sum()), float(risk[here].mean()),
            float(risk[here].max()),
        )
        for here in (part == p for p in np.unique(part))
    ]  # fmt: skip
