"""Which method is best at which risk? Methods and controls at the same measured risk, by paired tests."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from shoal.anonymizer.registry import find_method
from shoal.evaluation.experiment.settings import Setting, privacy_parameter
from shoal.evaluation.measures.precision import FREE
from shoal.evaluation.run.outcomes import Outcome
from shoal.evaluation.run.results import Row, rounded
from shoal.evaluation.statistics import CLEAR, holm, intervals, sign_flip_test

RISK = "linkage5"
RISKS = (0.01, 0.05, 0.1)
# Two settings whose risks are farther apart say too little of what lies between them.
_FARTHEST = 4.0
_NEAR = 2.0  # the most by which a method's riskiest setting may be below a risk that it stands for


Chance = dict[tuple[float, str, str], float]  # the corrected p of each pair at a risk
Ends = dict[tuple[float, str], list[float]]  # the interval of each curve at a risk


@dataclass(frozen=True, eq=False)
class Point:
    """What a setting, or two together, give people at a risk."""

    risk: float
    scores: np.ndarray  # AP@10 of each person
    settings: tuple[str, ...]  # between which it lies, or the only one


@dataclass(frozen=True, eq=False)
class Curve:
    """The settings of a method that differ in its privacy parameter, by their measured risk."""

    name: str
    points: tuple[Point, ...]  # the least risk first
    is_whole: bool = False  # nothing riskier could have been measured

    def at(self, risk: float, tolerance: float, farthest: float = _FARTHEST) -> Point | None:
        """What it gives at a risk, between its neighbours there; None where it was not measured near it."""
        below = [point for point in self.points if point.risk <= risk + tolerance]
        above = [point for point in self.points if point.risk > risk + tolerance]
        if not below:
            return None
        if not above:
            return below[-1] if self.is_whole or below[-1].risk * _NEAR >= risk else None
        if above[0].risk > farthest * max(below[-1].risk, tolerance):
            return None
        return _between(below[-1], above[0], risk)


def _between(low: Point, high: Point, risk: float) -> Point:
    """Between two settings people get a mean of both, by where the logarithm of the risk lies."""
    if low.risk >= risk or low.risk <= 0:
        return low
    share = float(np.log(risk / low.risk) / np.log(high.risk / low.risk))
    scores = (1 - share) * low.scores + share * high.scores
    return Point(risk, scores, (*low.settings, *high.settings))


def curves(outcomes: Sequence[Outcome], score: str = "ap10") -> list[Curve]:
    """One curve for each method and each choice of its other parameters. What failed or was not attacked is on none."""
    apart: dict[tuple[str, str], list[Outcome]] = {}
    for outcome in outcomes:
        if RISK in outcome.measures:
            apart.setdefault((outcome.setting.method, _others(outcome.setting)), []).append(outcome)
    many = {method: sum(other == method for other, _ in apart) > 1 for method, _ in apart}
    return [
        _curve(f"{method} {rest}".strip() if many[method] else method, same, score)
        for (method, rest), same in apart.items()
    ]


def _curve(name: str, outcomes: Sequence[Outcome], score: str) -> Curve:
    by_risk = sorted(outcomes, key=lambda o: o.measures[RISK])
    points = tuple(Point(o.measures[RISK], o.scores[score], (str(o.setting),)) for o in by_risk)
    return Curve(name, points, any(_is_least_private(o.setting) for o in outcomes))


def _others(setting: Setting) -> str:
    """The named parameters but that of privacy."""
    private = privacy_parameter(find_method(setting.method).info.parameters)
    names = [name for name in setting.named if private is None or name != private.name]
    return " ".join(part for part in setting.params.split() if part.partition("=")[0] in names)


def _is_least_private(setting: Setting) -> bool:
    private = privacy_parameter(find_method(setting.method).info.parameters)
    if private is None:
        return True
    allowed = private.allowed
    return setting.value(private.name) == (allowed.low if private.more_private == "higher" else allowed.high)


def random_at(risk: float, outcomes: Sequence[Outcome], score: str = "ap10") -> Point | None:
    """Random groups at a risk: between the sizes that were measured, one group of all, and groups of one."""
    kinds = ("random", "everyone", "original")
    made = curves([o for o in outcomes if o.setting.method in kinds], score)
    points = [point for curve in made for point in curve.points]
    if len(points) < 2:
        return None
    points.sort(key=lambda point: point.risk)
    inside = min(max(risk, points[0].risk), points[-1].risk)
    return Curve("random", tuple(points), True).at(inside, 0.0, np.inf)


def answers(outcomes: Sequence[Outcome], users: int, seed: int = 0) -> list[Row]:
    """For each of the risks, who is best: one method, several that cannot be told apart, or none beyond a control.

    The family is all pairs of all curves at all risks, so that whoever leads was not chosen by luck.
    """
    made = [curve for curve in curves(outcomes) if curve.name != "original"]
    tolerance = 1 / max(1, users)  # less than one person's worth of risk is not less risk
    found = {risk: {c.name: point for c in made if (point := c.at(risk, tolerance))} for risk in RISKS}
    pairs = [(risk, a, b) for risk, points in found.items() for a, b in combinations(points, 2)]
    if not pairs:
        return []
    tests = sign_flip_test(np.stack([found[risk][a].scores - found[risk][b].scores for risk, a, b in pairs]), seed)
    chance = dict(zip(pairs, holm(tests).tolist(), strict=True))
    bounds = intervals(np.stack([point.scores for points in found.values() for point in points.values()]), seed=seed)
    ends = dict(zip(((risk, name) for risk, points in found.items() for name in points), bounds.tolist(), strict=True))
    return [_answer(risk, points, chance, ends, [c.name for c in made]) for risk, points in found.items() if points]


def _answer(risk: float, points: dict[str, Point], chance: Chance, ends: Ends, names: Sequence[str]) -> Row:
    best = max(points, key=lambda name: float(points[name].scores.mean()))
    rows: list[Row] = []
    for name, point in points.items():
        p, (low, high) = chance.get((risk, best, name), chance.get((risk, name, best))), ends[risk, name]
        rows.append({
            "name": name, "between": list(point.settings), "risk": rounded(point.risk),
            "ap10": rounded(float(point.scores.mean())), "ap10_low": rounded(low), "ap10_high": rounded(high),
            "p_holm": None if p is None else rounded(p), "leads": name == best or (p is not None and p >= CLEAR),
        })  # fmt: skip
    rows.sort(key=lambda row: -row["ap10"])
    leading = [row["name"] for row in rows if row["leads"]]
    return {
        "risk": risk, "verdict": verdict(leading), "leading": leading, "candidates": rows,
        "not_measured_there": [name for name in names if name not in points],
    }  # fmt: skip


def verdict(leading: Sequence[str]) -> str:
    """A control that cannot be told from the best needs no method, and less risk."""
    if set(leading).intersection(FREE):
        return "no method"
    if "random" in leading:
        return "no better than random"
    return "best" if len(leading) == 1 else "tie"
