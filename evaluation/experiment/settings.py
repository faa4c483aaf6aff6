"""Which methods are compared, and with which parameters? "clump:k=5,10;linkability:p=0.4", or five privacy levels."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product

from shoal.anonymizer.base import Method
from shoal.anonymizer.parameters import Parameter, Value
from shoal.anonymizer.registry import find_method, make_method, methods
from shoal.corpus.errors import InputError
from shoal.corpus.knowledge import Knowledge

Ranges = Mapping[str, Sequence[object]]  # the values of each parameter that is given


@dataclass(frozen=True)
class Setting:
    """One method with a value for each of its parameters; `named` are those that tell it from its neighbours."""

    method: str
    values: tuple[tuple[str, Value], ...]
    named: tuple[str, ...] = ()

    @property
    def params(self) -> str:
        """The named parameters as text, in the method's order: `k=5 r=20`."""
        return " ".join(f"{name}={written(value)}" for name, value in self.values if name in self.named)

    def __str__(self) -> str:
        return f"{self.method} {self.params}".strip()

    def make(self, knowledge: Knowledge) -> Method:
        return make_method(self.method, dict(self.values), knowledge)

    def value(self, name: str) -> Value:
        return dict(self.values)[name]


def written(value: Value) -> str:
    return f"{value:.12g}" if isinstance(value, float) else str(value)


def privacy_parameter(parameters: Iterable[Parameter[Value]]) -> Parameter[Value] | None:
    """The first parameter that makes a method more or less private, by which its levels are made."""
    return next((p for p in parameters if p.more_private != "neither"), None)


def make_setting(method: str, given: Mapping[str, object]) -> Setting:
    """A checked setting. It is named by its privacy parameter and by what was given."""
    made = make_method(method, given)
    private = privacy_parameter(made.info.parameters)
    named = {*given, *([private.name] if private else [])}
    values = tuple(made.settings.items())
    return Setting(method, values, tuple(name for name, _ in values if name in named))


def allowed_setting(method: str, given: Mapping[str, object]) -> Setting | None:
    """The same of values that a program chose; none where they do not go together."""
    try:
        return make_setting(method, given)
    except InputError:
        return None


def all_settings(method: str, ranges: Ranges) -> list[Setting]:
    """Every combination of the values, the last parameter changing fastest."""
    names = list(ranges)
    return [make_setting(method, dict(zip(names, values, strict=True))) for values in product(*ranges.values())]


def parse_methods(text: str) -> list[Setting]:
    """The settings of METHOD[:NAME=VALUE[,VALUE...][,NAME=...]][;METHOD...].

    A comma list makes several settings; a piece without = goes on with the list before it, so that
    `clump:k=5,10,r=10` and `clump:k=5,10:r=10` are the same.
    """
    parts = [part.strip() for part in text.split(";") if part.strip()]
    if not parts:
        raise InputError(f"no method in {text!r}: write for example random:k=3;linkability:p=0.4,0.2")
    return distinct(setting for part in parts for setting in all_settings(*_parse_method(part)))


def _parse_method(part: str) -> tuple[str, dict[str, list[str]]]:
    method, _, rest = part.partition(":")
    ranges: dict[str, list[str]] = {}
    name = ""
    for piece in (piece.strip() for piece in re.split("[,:]", rest) if rest):
        before, equals, value = piece.partition("=")
        if equals:
            name = before.strip()
            if name in ranges:
                raise InputError(f"{part!r} gives {name} twice: write all its values in one list, {name}=1,2")
            ranges[name] = []
        value = (value if equals else piece).strip()
        if not name or not value:
            raise InputError(f"{part!r} is no setting: expected METHOD:NAME=VALUE,VALUE, for example random:k=3,5")
        ranges[name].append(value)
    return find_method(method.strip()).info.id, ranges


def distinct(settings: Iterable[Setting]) -> list[Setting]:
    """Each setting once, in the order in which they come."""
    return list({(setting.method, setting.values): setting for setting in settings}.values())


def default_settings() -> list[Setting]:
    """Every method of the registry at its privacy levels."""
    return distinct(setting for method in methods() for setting in level_settings(method))


def level_settings(method: str) -> list[Setting]:
    """A method at its privacy levels, the least private first; once, if it has no such parameter."""
    private = privacy_parameter(find_method(method).info.parameters)
    values: Sequence[Value] = levels(private) if private else ()
    made = [_level(method, private, float(value)) for value in values] if private else []
    return distinct(made) or [make_setting(method, {})]


def _level(method: str, parameter: Parameter[Value], value: float) -> Setting:
    """A level; one that does not go together with the other parameters' defaults stands halfway to its own."""
    halfway = (value + float(parameter.default)) / 2
    tried = [allowed_setting(method, {parameter.name: inside(parameter, one)}) for one in (value, halfway)]
    return next((setting for setting in tried if setting is not None), make_setting(method, {}))


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
