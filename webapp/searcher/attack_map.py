"""/attack/map: where could this person be found? Every release against 1, 3, 5 and 10 known terms, as a heat map."""

from dataclasses import dataclass
from functools import lru_cache

from flask import request

from shoal.evaluation.attacks.victims import KNOWN
from shoal.webapp.core.context import releases, service
from shoal.webapp.core.dial import RISK
from shoal.webapp.core.people import Person
from shoal.webapp.core.question import read_asked, read_number, visible_releases
from shoal.webapp.core.releases import ReleaseSummary
from shoal.webapp.core.service import SearchService
from shoal.webapp.searcher import pages, render
from shoal.webapp.searcher.attack import ORIGINAL, Attack, Target, draw_terms, original_target, play, target_of

_MOST = 60  # releases
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
    listed = visible_releases()[:_MOST]
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
