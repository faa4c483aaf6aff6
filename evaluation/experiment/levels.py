"""At which privacy levels is a method compared? Five values of its privacy parameter, made from the default."""

from collections.abc import Sequence

from shoal.anonymizer.parameters import Parameter, Value
from shoal.anonymizer.registry import find_method, methods
from shoal.evaluation.experiment.settings import Setting, all_settings, distinct, make_setting, privacy_parameter


def default_settings() -> list[Setting]:
    """Every method of the registry at its privacy levels."""
    return distinct(setting for method in methods() for setting in level_settings(method))


def level_settings(method: str) -> list[Setting]:
    """A method at its privacy levels, the least private first; once, if it has no such parameter."""
    private = privacy_parameter(find_method(method).info.parameters)
    values: Sequence[Value] = levels(private) if private else ()
    return all_settings(method, {private.name: values}) if private and values else [make_setting(method, {})]


# A parameter's default times these, from little privacy to much.
_STEPS = (0.4, 1, 2, 4, 10)


def levels(parameter: Parameter[Value]) -> list[Value]:
    """Five values around the default, within the range, the least private first; none where it is no number."""
    if isinstance(parameter.default, str):
        return []
    steps = _STEPS if parameter.more_private == "higher" else [1 / step for step in _STEPS]
    values = [inside(parameter, parameter.default * step) for step in steps]
    if len(set(values)) < len(values) and values[0] != values[-1]:  # the range cuts some off: space them evenly
        low, high = float(values[0]), float(values[-1])
        values = [inside(parameter, low + (high - low) * i / (len(values) - 1)) for i in range(len(values))]
    return list(dict.fromkeys(values))


def inside(parameter: Parameter[Value], value: float) -> int | float:
    """The nearest allowed number, with three digits."""
    value = float(f"{value:.3g}")
    value = value if parameter.allowed.low is None else max(value, parameter.allowed.low)
    value = value if parameter.allowed.high is None else min(value, parameter.allowed.high)
    return round(value) if parameter.allowed.kind is int else float(value)
