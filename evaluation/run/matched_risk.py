"""Which method is best at which risk? All at the same measured risk, by paired tests; settings nearer to it decide."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations

import numpy as np

from shoal.anonymizer.parameters import Parameter, Value
from shoal.anonymizer.registry import find_method
from shoal.corpus.progress import Progress, silent
from shoal.evaluation.experiment.settings import Setting, allowed_setting, distinct, inside, privacy_parameter
from shoal.evaluation.measures.precision import FREE, OUTSIDE
from shoal.evaluation.run.outcomes import Outcome, Run
from shoal.evaluation.run.results import Row, rounded
from shoal.evaluation.statistics import CLEAR, Estimate, chances, estimate_intervals, holm, padded

RISK = "linkage5"
RISKS = (0.01, 0.05, 0.1)
_FARTHEST = 5.0  # settings whose risks are farther apart were not measured near what lies between them
_NEAR = 2.0  # the most by which a method's riskiest setting may be below a risk that it stands for


Chance = dict[tuple[float, str, str], float]  # the corrected p of each pair at a risk
Ends = dict[tuple[float, str], list[float]]  # the interval of each curve at a risk


@dataclass(frozen=True, eq=False)
class Point:
    """What a setting, or two together, give people at a risk."""

    risk: float
    estimate: Estimate  # of AP@10
    settings: tuple[str, ...]  # between which it lies, or the only one
    luck: np.ndarray = field(default_factory=lambda: np.empty(0))  # how each attack moved the logarithm of the risk
    is_near: bool = True  # was it measured near this risk?

    @property
    def is_least(self) -> bool:
        """Whether riskier settings, which were not measured, may give more."""
        return self.estimate.above == np.inf

    @property
    def surely(self) -> float:
        """The least that people get, for all that is known."""
        return self.estimate.mean - self.estimate.below


@dataclass(frozen=True, eq=False)
class Curve:
    """The settings of a method that differ in its privacy parameter, by their measured risk."""

    name: str
    points: tuple[Point, ...]  # the least risk first
    is_whole: bool = False  # nothing riskier could have been measured

    def at(self, risk: float, tolerance: float = 0.0, luck: np.ndarray | None = None) -> Point:
        """What it gives at a risk. Nothing is lost by more risk: its neighbours are bounds where it was not measured.

        `luck` is that of the risk itself, where that was measured.
        """
        below = [point for point in self.points if point.risk <= risk]
        below = below or [point for point in self.points[:1] if point.risk <= risk + tolerance]
        above = self.points[len(below) :]
        slope = self._slope(risk, [*below[-1:], *above[:1]])
        if not below:
            found, near = replace(above[0], estimate=replace(above[0].estimate, below=np.inf)), False
        elif not above or below[-1].risk >= risk:
            found, near = self._highest(below[-1], risk, slope, is_last=not above)
        else:
            found, near = _between(below[-1], above[0], risk), above[0].risk <= _FARTHEST * below[-1].risk
        own, at_risk = padded([found.luck, np.empty(0) if luck is None else luck])
        moved = slope * (at_risk - own)
        return replace(found, estimate=replace(found.estimate, victims=moved), is_near=near)

    def _highest(self, point: Point, risk: float, slope: float, is_last: bool) -> tuple[Point, bool]:
        """The riskiest setting that a risk allows. What is riskier, allowed and not measured may give more."""
        if self.is_whole or not is_last or point.risk >= risk:
            return point, True
        near = len(self.points) > 1 and point.risk * _NEAR >= risk
        more = max(0.0, 2 * slope * float(np.log(risk / point.risk))) if near else np.inf
        return replace(point, estimate=replace(point.estimate, above=more)), near

    def _slope(self, risk: float, neighbours: Sequence[Point]) -> float:
        """By how much AP@10 rises with the logarithm of the risk around here, which settings close together hide."""
        near = [p for p in self.points if p in neighbours or risk / _FARTHEST <= p.risk <= risk * _FARTHEST]
        x = np.log([max(point.risk, 1e-12) for point in near])
        x = x - x.mean()
        square = float((x**2).sum())
        return float((x * [point.estimate.mean for point in near]).sum()) / square if square > 0 else 0.0


def _between(low: Point, high: Point, risk: float) -> Point:
    """Between two settings people get a mean of both, by where the logarithm of the risk lies.

    Nobody knows how precision rises there: it may be anything from linear in the risk to linear in its inverse.
    """
    least = max(low.risk, 1e-12)
    share = float(np.log(risk / least) / np.log(high.risk / least))
    by_risk = (risk - least) / (high.risk - least)
    by_inverse = (1 / least - 1 / risk) / (1 / least - 1 / high.risk)
    gap = high.estimate.mean - low.estimate.mean
    ends = (gap * (by_risk - share), gap * (by_inverse - share))
    people = (1 - share) * low.estimate.people + share * high.estimate.people
    luck = (1 - share) * low.luck + share * high.luck
    return Point(risk, Estimate(people, below=-min(ends), above=max(ends)), (*low.settings, *high.settings), luck)


def curves(outcomes: Sequence[Outcome], score: str = "ap10") -> list[Curve]:
    """One curve for each method and each choice of its other parameters. What failed or was not attacked is on none."""
    return [_curve(name, same, score) for name, same in grouped(outcomes).items()]


def grouped(outcomes: Sequence[Outcome]) -> dict[str, list[Outcome]]:
    """The outcomes of each curve, by its name."""
    apart: dict[tuple[str, str], list[Outcome]] = {}
    for outcome in outcomes:
        if RISK in outcome.measures:
            apart.setdefault((outcome.setting.method, _others(outcome.setting)), []).append(outcome)
    many = {method: sum(other == method for other, _ in apart) > 1 for method, _ in apart}
    return {f"{method} {rest}".strip() if many[method] else method: same for (method, rest), same in apart.items()}


def _curve(name: str, outcomes: Sequence[Outcome], score: str) -> Curve:
    by_risk = sorted(outcomes, key=lambda o: o.measures[RISK])
    return Curve(name, tuple(_point(o, score) for o in by_risk), any(_is_least_private(o.setting) for o in outcomes))


def _point(outcome: Outcome, score: str) -> Point:
    return Point(outcome.measures[RISK], Estimate(outcome.scores[score]), (str(outcome.setting),), luck_of(outcome))


def luck_of(outcome: Outcome) -> np.ndarray:
    """How the attack on each victim moved the logarithm of the measured risk; together by nothing."""
    times, risk = outcome.times, outcome.measures[RISK]
    if RISK not in outcome.of_victims or risk <= 0:
        return np.zeros(len(times))
    return np.asarray((outcome.of_victims[RISK] - times * risk) / risk * (len(times) / times.sum()))


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
    if setting.value(private.name) == (allowed.low if private.more_private == "higher" else allowed.high):
        return True
    next_one = number(setting, private) + (-1 if private.more_private == "higher" else 1)
    return allowed.kind is int and _with(setting, private, next_one) is None  # others stand in the way


def random_curve(outcomes: Sequence[Outcome], score: str = "ap10") -> Curve | None:
    """Random groups of the sizes that were measured, of all people, and of one."""
    kinds = ("random", "everyone", "original")
    made = curves([o for o in outcomes if o.setting.method in kinds], score)
    points = sorted((point for curve in made for point in curve.points), key=lambda point: point.risk)
    return Curve("random", tuple(points), True) if len(points) > 1 else None


def answers(outcomes: Sequence[Outcome], users: int, seed: int = 0) -> list[Row]:
    """For each of the risks, who is best: one method, several that cannot be told apart, or none beyond a control.

    The family is all pairs of all curves at all risks, so that whoever leads was not chosen by luck.
    """
    made = [curve for curve in curves(outcomes) if curve.name not in ("original", "random", *OUTSIDE)]
    at_random = random_curve(outcomes) if any(o.setting.method == "random" for o in outcomes) else None
    made += [at_random] if at_random else []
    tolerance = 1 / max(1, users)  # less than one person's worth of risk is not less risk
    found = {risk: {curve.name: curve.at(risk, tolerance) for curve in made} for risk in RISKS}
    pairs = [(risk, a, b) for risk, points in found.items() for a, b in combinations(points, 2)]
    tests = chances([found[risk][a].estimate - found[risk][b].estimate for risk, a, b in pairs], seed)
    chance = {pair: p for (risk, a, b), p in zip(pairs, holm(tests).tolist(), strict=True)
              for pair in ((risk, a, b), (risk, b, a))}  # fmt: skip
    ends = _ends(found, seed)
    return [_answer(risk, points, chance, ends) for risk, points in found.items() if _is_measured(points)]


def _is_measured(points: dict[str, Point]) -> bool:
    return any(point.is_near for point in points.values())


def _ends(found: dict[float, dict[str, Point]], seed: int) -> Ends:
    """The interval of every curve at every risk; where more may be had by what was not measured, of what was."""
    there = {(risk, name): point.estimate for risk, points in found.items() for name, point in points.items()}
    known = [replace(one, above=0.0) if one.above == np.inf else one for one in there.values()]
    return dict(zip(there, estimate_intervals(known, seed).tolist(), strict=True)) if there else {}


def _answer(risk: float, points: dict[str, Point], chance: Chance, ends: Ends) -> Row:
    """Who leads at a risk is who surely gives most, and all that cannot be told from it."""
    best = max(points, key=lambda name: points[name].surely)
    equal = [name for name in points if name == best or chance[risk, best, name] >= CLEAR]
    shown = {name: point for name, point in points.items() if point.is_near or name == best}
    rows: list[Row] = []
    for name, point in shown.items():
        low, high = ends[risk, name]
        rows.append({
            "name": name, "between": list(point.settings), "risk": rounded(point.risk),
            "ap10": rounded(point.estimate.mean), "ap10_low": rounded(low), "ap10_high": rounded(high),
            "is_least": point.is_least, "leads": name in equal,
            "p_holm": None if name == best else rounded(chance[risk, best, name]),
        })  # fmt: skip
    rows.sort(key=lambda row: (not row["leads"], -row["ap10"]))
    leading = [row["name"] for row in rows if row["leads"]]
    perhaps = [name for name in equal if name not in shown]
    return {
        "risk": risk, "verdict": verdict(leading, perhaps), "leading": leading, "candidates": rows, "perhaps": perhaps,
    }  # fmt: skip


def verdict(leading: Sequence[str], perhaps: Sequence[str] = ()) -> str:
    """A control that cannot be told from the best needs no method, and less risk.

    Nobody is best while another, not measured near that risk, may be better.
    """
    if perhaps:
        return "undecided"
    if set(leading).intersection(FREE):
        return "no method"
    if "random" in leading:
        return "no better than random"
    return "best" if len(leading) == 1 else "tie"


ROUNDS = 3
FEWEST_USERS = 200  # fewer people do not tell such risks apart
_STEP = 3.0  # by which a privacy parameter is changed where all settings lie on one side of a risk


def measure_nearer(run: Run, outcomes: Sequence[Outcome], progress: Progress = silent) -> list[Outcome]:
    """Further outcomes, of methods that may lead at a risk and were not measured near it."""
    users, more = len(run.workload.train.users), list[Outcome]()
    for _ in range(ROUNDS if users >= FEWEST_USERS else 0):
        wanted = nearer_settings([*outcomes, *more], users)
        if not wanted:
            break
        more += run.measure(wanted, progress)
    return more


def nearer_settings(outcomes: Sequence[Outcome], users: int) -> list[Setting]:
    """For each risk and each method that may lead there, a setting that was not tried and lies nearer."""
    worked = [outcome for outcome in outcomes if not outcome.failure]
    by_curve, tried = grouped(worked), {outcome.setting for outcome in outcomes}
    found = [nearer(by_curve[name], row["risk"]) for row in answers(worked, users) for name in row["perhaps"]]
    return distinct(setting for setting in found if setting is not None and setting not in tried)


def nearer(outcomes: Sequence[Outcome], risk: float) -> Setting | None:
    """A setting of a curve that lies nearer to a risk than those that were measured."""
    by_risk = sorted(outcomes, key=lambda outcome: outcome.measures[RISK])
    setting = by_risk[0].setting
    parameter = privacy_parameter(find_method(setting.method).info.parameters)
    if parameter is None or isinstance(parameter.default, str):
        return None
    below = [number(o.setting, parameter) for o in by_risk if o.measures[RISK] <= risk]
    above = [number(o.setting, parameter) for o in by_risk if o.measures[RISK] > risk]
    if below and above:
        value = middle(parameter, below[-1], above[0])
    else:
        private = (parameter.more_private == "higher") == bool(above)  # whether the parameter has to rise
        last = above[0] if above else below[-1]
        value = inside(parameter, last * _STEP if private else last / _STEP)
    while value is not None:
        if (found := _with(setting, parameter, value)) is not None:
            return found
        value = middle(parameter, number(setting, parameter), value)  # it does not go together with the others
    return None


def _with(setting: Setting, parameter: Parameter[Value], value: float) -> Setting | None:
    given: dict[str, object] = {name: v for name, v in setting.values if name in setting.named}
    return allowed_setting(setting.method, given | {parameter.name: value})


def number(setting: Setting, parameter: Parameter[Value]) -> float:
    value = setting.value(parameter.name)
    return float("nan") if isinstance(value, str) else float(value)


def middle(parameter: Parameter[Value], a: float, b: float) -> int | float | None:
    """The geometric mean where both are positive; None where no number is left between them."""
    value = inside(parameter, float(np.sqrt(a * b)) if a > 0 and b > 0 else (a + b) / 2)
    return value if min(a, b) < value < max(a, b) else None
