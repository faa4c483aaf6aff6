"""Which settings decide who is best at a risk? Those between the neighbours of a method that was measured far from it.

Without them the answer would hang on the grid that was asked for.
"""

from collections.abc import Sequence

import numpy as np

from shoal.anonymizer.parameters import Parameter, Value
from shoal.anonymizer.registry import find_method
from shoal.corpus.progress import Progress, silent
from shoal.evaluation.experiment.settings import Setting, distinct, inside, make_setting, privacy_parameter
from shoal.evaluation.run.matched_risk import RISK, answers, grouped
from shoal.evaluation.run.outcomes import Outcome, Run

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
    found = [_nearer(by_curve[name], row["risk"]) for row in answers(worked, users) for name in row["perhaps"]]
    return distinct(setting for setting in found if setting is not None and setting not in tried)


def _nearer(outcomes: Sequence[Outcome], risk: float) -> Setting | None:
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
    if value is None:
        return None
    given: dict[str, object] = {name: v for name, v in setting.values if name in setting.named}
    return make_setting(setting.method, given | {parameter.name: value})


def number(setting: Setting, parameter: Parameter[Value]) -> float:
    value = setting.value(parameter.name)
    return float("nan") if isinstance(value, str) else float(value)


def middle(parameter: Parameter[Value], a: float, b: float) -> int | float | None:
    """The geometric mean where both are positive; None where no number is left between them."""
    value = inside(parameter, float(np.sqrt(a * b)) if a > 0 and b > 0 else (a + b) / 2)
    return value if min(a, b) < value < max(a, b) else None
