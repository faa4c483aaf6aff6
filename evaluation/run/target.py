"""Which setting of each method meets a risk and keeps most precision? "linkage5<=0.05", sought between its levels."""

import operator
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from shoal.anonymizer.parameters import Parameter, Value
from shoal.anonymizer.registry import find_method
from shoal.corpus.errors import InputError
from shoal.corpus.progress import Progress, silent
from shoal.evaluation.experiment.settings import Setting, distinct, make_setting, privacy_parameter
from shoal.evaluation.measures.base import ReleaseMeasure
from shoal.evaluation.measures.precision import share_kept
from shoal.evaluation.measures.registry import columns_of
from shoal.evaluation.run.matched_risk import middle, number
from shoal.evaluation.run.outcomes import Outcome, Run, with_all_controls
from shoal.evaluation.run.results import Results, Row, rounded
from shoal.evaluation.run.summary import floor_of, summarize

ROUNDS = 4
_COMPARE: dict[str, Callable[[float, float], bool]] = {
    "<=": operator.le, "<": operator.lt, ">=": operator.ge, ">": operator.gt,
}  # fmt: skip
_RISK = re.compile(r"\s*(\w+)\s*(<=|>=|<|>)\s*([0-9.eE+-]+)\s*")


@dataclass(frozen=True)
class Risk:
    """A bound on one measure of the release."""

    measure: str
    sign: str
    bound: float

    def met_by(self, outcome: Outcome) -> bool:
        value = outcome.measures.get(self.measure)
        return value is not None and not outcome.failure and _COMPARE[self.sign](value, self.bound)

    def __str__(self) -> str:
        return f"{self.measure}{self.sign}{self.bound:g}"


def parse_risk(text: str) -> Risk:
    """A bound as text, on one column of what is measured of a release."""
    measures = columns_of(ReleaseMeasure)
    found = _RISK.fullmatch(text)
    try:
        bound = float(found[3]) if found else None
    except ValueError:
        bound = None
    if found is None or bound is None:
        raise InputError(f"--risk {text!r} is no bound: write a measure, <= and a number, for example linkage5<=0.05")
    if found[1] not in measures:
        raise InputError(f"--risk {text!r}: no measure {found[1]!r} of a release; choose one of {', '.join(measures)}")
    return Risk(found[1], found[2], bound)


def seek(run: Run, risk: Risk, progress: Progress = silent) -> Results:
    """Measure the experiment's settings, then go on between the last that fails and the first that meets the risk."""
    settings = list(run.experiment.settings)
    controls = with_all_controls(settings)[len(settings) :]
    with run.processes():
        outcomes = run.measure(settings, progress)
        for _ in range(ROUNDS):
            between = distinct(s for method in _methods(settings) for s in _between(method, outcomes, risk))
            between = [setting for setting in between if setting not in settings]
            if not between:
                break
            outcomes += run.measure(between, progress)
            settings += between
        others = run.measure(controls, progress)
    outcomes = _in_order(outcomes)
    floor = floor_of([o for o in (*outcomes, *others) if not o.failure]).ap10
    rows = [_row(method, outcomes, risk, floor) for method in _methods(settings)]
    rows.sort(key=lambda row: -row.get("ap10", -1.0))
    new = [o for o in others if o.setting not in settings]  # a size of random groups may have been sought already
    return summarize(run, [*outcomes, *new], len(outcomes), rows, str(risk))


def _in_order(outcomes: Sequence[Outcome]) -> list[Outcome]:
    """The outcomes of each method together, the least private first."""
    ordered: list[Outcome] = []
    for method in _methods([o.setting for o in outcomes]):
        same = [o for o in outcomes if o.setting.method == method]
        parameter = privacy_parameter(find_method(method).info.parameters)
        ordered += _by_privacy(same, parameter) if parameter else same
    return ordered


def _methods(settings: Sequence[Setting]) -> list[str]:
    return list(dict.fromkeys(setting.method for setting in settings))


def _between(method: str, outcomes: Sequence[Outcome], risk: Risk) -> list[Setting]:
    """The setting halfway between the neighbours of which one meets the risk and the less private one does not."""
    parameter = privacy_parameter(find_method(method).info.parameters)
    if parameter is None:
        return []
    best = _best([o for o in outcomes if o.setting.method == method], risk)
    if best is None:
        return []
    others = [o for o in outcomes if _rest(o.setting, parameter) == _rest(best.setting, parameter)]
    weaker = [o for o in _by_privacy(others, parameter) if not risk.met_by(o) and _less(o, best, parameter)]
    value = middle(parameter, _number(weaker[-1], parameter), _number(best, parameter)) if weaker else None
    if value is None:
        return []
    given: dict[str, object] = {n: v for n, v in best.setting.values if n in best.setting.named}
    return [make_setting(method, given | {parameter.name: value})]


def _best(outcomes: Sequence[Outcome], risk: Risk) -> Outcome | None:
    return max((o for o in outcomes if risk.met_by(o)), key=lambda o: o.ap10, default=None)


def _rest(setting: Setting, parameter: Parameter[Value]) -> tuple[object, ...]:
    return setting.method, *((n, v) for n, v in setting.values if n != parameter.name)


def _number(outcome: Outcome, parameter: Parameter[Value]) -> float:
    return number(outcome.setting, parameter)


def _by_privacy(outcomes: Sequence[Outcome], parameter: Parameter[Value]) -> list[Outcome]:
    """The least private first."""
    return sorted(outcomes, key=lambda o: _number(o, parameter), reverse=parameter.more_private == "lower")


def _less(one: Outcome, other: Outcome, parameter: Parameter[Value]) -> bool:
    a, b = _number(one, parameter), _number(other, parameter)
    return a < b if parameter.more_private == "higher" else a > b


def _row(method: str, outcomes: Sequence[Outcome], risk: Risk, floor: float) -> Row:
    best = _best([o for o in outcomes if o.setting.method == method], risk)
    if best is None:
        return {"method": method, "params": "", "meets": f"no setting has {risk}"}
    return {
        "method": method, "params": best.setting.params, "meets": str(risk),
        risk.measure: rounded(best.measures[risk.measure]), "ap10": rounded(best.ap10),
        "kept": rounded(float(share_kept(best.ap10, floor))),
    }  # fmt: skip
