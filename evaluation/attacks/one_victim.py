"""What does an attacker conclude about one person? Whom the known terms point to, and what would be believed."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from shoal.evaluation.attacks.inference import GUESSES
from shoal.evaluation.attacks.linkage import best_profiles, evidence
from shoal.evaluation.attacks.view import SMOOTHING, PublishedView


@dataclass(frozen=True)
class Suspect:
    """A published profile that the known terms may point to."""

    row: int  # of the release
    pseudonym: str
    users: int
    belief: float  # the attacker's probability that the victim is behind it
    holds: tuple[str, ...]  # the known terms that something in it stands for


@dataclass(frozen=True)
class Believed:
    """A term that was not known and is in the profile picked, with its share of that profile."""

    term: str
    weight: float


@dataclass(frozen=True)
class Conclusion:
    """All from what is public: the attacker does not know whether it is right."""

    known: tuple[str, ...]
    suspects: tuple[Suspect, ...]  # likeliest first
    picked: tuple[int, ...]  # the profiles that score highest; several if they tie
    believed: tuple[Believed, ...]  # of the first one picked, heaviest first


def attack(view: PublishedView, known: Sequence[str], suspects: int = 6, smoothing: float = SMOOTHING) -> Conclusion:
    """Score every published profile by the likelihood of the known terms; every user is as likely as any before."""
    terms = tuple(dict.fromkeys(known))
    if len(view.release) == 0 or not terms:
        return Conclusion(terms, (), (), ())
    speaks = evidence(view, terms, smoothing)
    scores = np.asarray(speaks.sum(axis=0)).ravel()
    likely = np.exp(scores - scores.max()) * view.release.users
    belief = likely / max(float(likely.sum()), 1e-300)
    first = np.lexsort((np.arange(len(scores)), -scores))[:suspects]
    picked = tuple(np.flatnonzero(best_profiles(scores)).tolist())
    return Conclusion(
        terms,
        tuple(_suspect(view, int(row), float(belief[row]), terms, speaks[:, [row]].toarray().ravel()) for row in first),
        picked,
        believed(view, picked[0], terms),
    )


def _suspect(view: PublishedView, row: int, belief: float, terms: tuple[str, ...], speaks: np.ndarray) -> Suspect:
    holds = tuple(term for term, value in zip(terms, speaks, strict=True) if value > 0)
    return Suspect(row, view.release.pseudonyms[row], int(view.release.users[row]), belief, holds)


def believed(view: PublishedView, row: int, known: Sequence[str], most: int = GUESSES) -> tuple[Believed, ...]:
    """The heaviest terms of a profile that were not known; of equal ones the first by name."""
    part = slice(view.profiles.indptr[row], view.profiles.indptr[row + 1])
    atom, weight = view.profiles.indices[part], view.profiles.data[part]
    order = np.argsort(-weight, kind="stable")
    found: list[Believed] = []
    for place in order.tolist():
        if len(found) >= most and weight[place] < found[most - 1].weight:
            break
        names = view.atoms.terms(int(atom[place]), most + len(known))
        found += [Believed(term, float(weight[place])) for term in names if term not in known]
    return tuple(sorted(found, key=lambda belief: (-belief.weight, belief.term))[:most])
