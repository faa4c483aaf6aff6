"""/attack: can an attacker find this person? The linkage attack of the measures, on one victim and one release.

/attack/map: where could this person be found? Every release against 1, 3, 5 and 10 known terms, as a heat map.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from flask import request
from scipy.sparse import csr_array

from shoal.anonymizer.base import Release
from shoal.anonymizer.methods.original import Original
from shoal.corpus.knowledge import Knowledge
from shoal.corpus.knowledge.taxonomy import bag_members, is_bag
from shoal.corpus.profiles import Profiles
from shoal.evaluation.attacks.inference import GUESSES
from shoal.evaluation.attacks.inference import attack as conclude
from shoal.evaluation.attacks.victims import KNOWN
from shoal.evaluation.attacks.view import PublishedView
from shoal.webapp.core.context import releases, service
from shoal.webapp.core.dial import RISK
from shoal.webapp.core.people import Person
from shoal.webapp.core.question import Asked, read_asked, read_number, visible_releases
from shoal.webapp.core.releases import Published, ReleaseSummary
from shoal.webapp.core.service import SearchService
from shoal.webapp.searcher import pages, render
from shoal.webapp.searcher.knows import Cover, generalized_labels

SHOWN = 6
_MOST_TERMS = 20
# The release to compare with: every profile as it is. It need not have been made by an operator.
ORIGINAL = "original"


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
    """A term (or a wider word) that the attacker did not know and now believes; true if the person has such a one."""

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
    method = Original(knowledge)
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
    """Let the attacker conclude from what is public, then look whether that is right."""
    blind = 1 / max(len(service.people), 1)
    concluded = conclude(target.view, known, SHOWN)
    held = set(target.pairs[[person.row]].indices.tolist())
    suspects = tuple(
        Candidate(one.pseudonym, one.users, one.belief, one.holds, one.row in held) for one in concluded.suspects
    )
    own = set(service.profiles.of(person.row))
    beliefs = _beliefs(target, concluded.picked[0], concluded.known, own) if concluded.picked else ()
    chance = _chance(concluded.picked, held, target.release) if held and concluded.picked else blind
    return Attack(concluded.known, suspects, len(target.release), chance, blind, beliefs)


def _chance(picked: Sequence[int], held: set[int], release: Release) -> float:
    """One of the best profiles is taken, and one of its users named."""
    right = sum(1 / max(int(release.users[row]), 1) for row in picked if row in held)
    return right / len(picked)


def _beliefs(target: Target, picked: int, known: Sequence[str], own: set[str]) -> tuple[Belief, ...]:
    """The labels of the picked profile that stand for nothing known, by how much of each falls to a single term."""
    profile = target.release.profile(picked)
    general = {label for label in profile if label in generalized_labels(target.release)}
    cover = Cover(general, target.view.knowledge)
    told, true = ({*terms, *(cover.over(term) for term in terms)} for terms in (known, own))
    weight = {
        label: value * (_share(label, target.view.knowledge) if label in general else 1.0)
        for label, value in profile.items()
        if label not in told
    }
    heaviest = sorted(weight.items(), key=lambda item: (-item[1], item[0]))[:GUESSES]
    return tuple(Belief(label, value, label in true) for label, value in heaviest)


def _share(label: str, knowledge: Knowledge) -> float:
    """What falls to each of the terms that a label stands for."""
    if is_bag(label):
        return 1 / len(bag_members(label))
    return 1 / int(knowledge.taxonomy.leaves[knowledge.taxonomy.node[label.lower()]])


@pages.get("/attack")
def attack() -> str:
    on_original = request.args.get("release") == ORIGINAL
    asked = read_asked({**request.args, "release": "" if on_original else request.args.get("release", "")})
    person = asked.asker.person
    if person is None:
        return render("attack", asked, attack=None)
    own = sorted(service().profiles.of(person.row).items(), key=lambda item: (-item[1], item[0]))
    m = int(read_number(request.args, "m", 5, 1, _MOST_TERMS))
    seed = int(read_number(request.args, "seed", 1, 0, 10**6))
    chosen = [term for term in request.args.getlist("term") if term in dict(own)][:_MOST_TERMS]
    known = chosen or draw_terms(person, service().profiles, m, seed)
    offered = [term for term, _ in own]
    target = choose_target(asked, on_original)
    return render(
        "attack", asked, attack=play(target, person, known, service()), target=target, offered=offered, m=m,
        seed=seed, drawn=not chosen, original=ORIGINAL,
    )  # fmt: skip


def choose_target(asked: Asked, on_original: bool) -> Target:
    return original_target(service().profiles, service().knowledge) if on_original else target_of(asked.published)


_MOST_RELEASES = 60
_HEATS = (0.9, 0.3, 0.1, 0.02)  # chances to be named from which a cell is hotter
_WIDTH, _HEIGHT = 300.0, 120.0  # of the curves


@dataclass(frozen=True)
class Cell:
    """One attack, in words."""

    m: int
    chance: float
    word: str

    @property
    def heat(self) -> int:
        return sum(self.chance >= bound for bound in _HEATS)


@dataclass(frozen=True)
class Row:
    """A release: the attacks on this person, and the share of everybody that was found when it was measured."""

    release_id: str
    title: str
    cells: tuple[Cell, ...]
    crowd: tuple[float, ...]  # by the known terms; empty where it was not measured

    @property
    def curve(self) -> str:
        """The crowd as points of a drawing."""
        step = _WIDTH / (len(KNOWN) - 1)
        return " ".join(f"{i * step:.1f},{_HEIGHT * (1 - share):.1f}" for i, share in enumerate(self.crowd))


def attack_rows(person: Person, seed: int, service: SearchService) -> list[Row]:
    """Profiles as they are first, then the releases from the riskiest to the safest."""
    listed = visible_releases()[:_MOST_RELEASES]
    made = sorted((one for one in listed if one.method != ORIGINAL), key=lambda one: -one.measured.get(RISK, 0.0))
    as_they_are = next((_crowd(one) for one in listed if one.method == ORIGINAL), ())
    first = Row(ORIGINAL, "Profiles as they are", _cells(ORIGINAL, person, seed, service), as_they_are)
    return [first, *(Row(r.release_id, r.title, _cells(r.release_id, person, seed, service), _crowd(r)) for r in made)]


def _crowd(release: ReleaseSummary) -> tuple[float, ...]:
    names = [f"linkage{m}" for m in KNOWN]
    return tuple(release.measured[name] for name in names) if set(names) <= set(release.measured) else ()


@lru_cache(maxsize=1000)
def _cells(release_id: str, person: Person, seed: int, service: SearchService) -> tuple[Cell, ...]:
    """A release never changes, so neither does an attack on it."""
    target = _target(release_id, service)
    attacks = [play(target, person, draw_terms(person, service.profiles, m, seed), service) for m in KNOWN]
    return tuple(Cell(m, one.chance, outcome(one)) for m, one in zip(KNOWN, attacks, strict=True))


def _target(release_id: str, service: SearchService) -> Target:
    if release_id == ORIGINAL:
        return original_target(service.profiles, service.knowledge)
    return target_of(service.published(releases().get(release_id)))


def outcome(attack: Attack) -> str:
    if not attack.candidates or attack.chance <= attack.blind or attack.chance < _HEATS[-1]:
        return "lost in the crowd"
    among = round(1 / attack.chance)
    return "found" if among == 1 else f"one of {among}"


@pages.get("/attack/map")
def attack_map() -> str:
    asked = read_asked(request.args)
    person, seed = asked.asker.person, int(read_number(request.args, "seed", 1, 0, 10**6))
    rows = attack_rows(person, seed, service()) if person is not None else []
    return render("attack_map", asked, rows=rows, known=KNOWN, seed=seed, width=_WIDTH, height=_HEIGHT)
