"""What can be set on a method? Parameters as data, from which forms, docs and checks are made."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Generic, Literal, Protocol, TypeVar, overload

from shoal.corpus.errors import InputError

Value = int | float | str
V_co = TypeVar("V_co", bound=Value, covariant=True)


@dataclass(frozen=True)
class Range(Generic[V_co]):
    """Which values are allowed: whole numbers or numbers between two bounds, and some words besides."""

    kind: type  # int, float, or str for words only
    low: float | None = None
    high: float | None = None
    words: tuple[str, ...] = ()

    def __or__(self, words: "Range[str]") -> "Range[V_co | str]":
        return Range(self.kind, self.low, self.high, self.words + words.words)

    def __str__(self) -> str:
        if self.kind is str:
            return " | ".join(self.words)
        numbers = "whole number" if self.kind is int else "number"
        low = "" if self.low is None else f" from {_written(self.low)}"
        high = "" if self.high is None else f" to {_written(self.high)}"
        return " or ".join([numbers + low + high, *self.words])

    def read(self, given: object) -> Value | None:
        """The value that was given, as number or text, or nothing if it is not allowed."""
        if isinstance(given, str) and given in self.words:
            return given
        value = self._number(given)
        return value if value is not None and self._within(value) else None

    def holds(self, value: object) -> bool:
        """Whether this is an allowed value as it stands: no text for a number, no 5.0 for a whole one."""
        if isinstance(value, str):
            return value in self.words
        exact = type(value) is int or (self.kind is float and type(value) is float)
        return exact and self.read(value) is not None

    def _within(self, value: float) -> bool:
        return (self.low is None or value >= self.low) and (self.high is None or value <= self.high)

    def _number(self, given: object) -> int | float | None:
        if self.kind is str or isinstance(given, bool) or not isinstance(given, int | float | str):
            return None
        try:
            value = float(given)
        except (ValueError, OverflowError):
            return None
        if self.kind is int:
            return int(given) if isinstance(given, int) else int(value) if value.is_integer() else None
        return value if value == value and abs(value) != float("inf") else None


def whole_number(low: int | None = None, high: int | None = None) -> Range[int]:
    return Range(int, low, high)


def number(low: float | None = None, high: float | None = None) -> Range[float]:
    return Range(float, low, high)


def one_of(*words: str) -> Range[str]:
    """Some words; `whole_number(1) | one_of("all")` allows a word besides numbers."""
    return Range(str, words=words)


AT_LEAST_TWO = whole_number(2, 10**6)  # how many users share something
SET_SIZES = whole_number(1, 10) | one_of("any")  # how many items an attacker knows


class Configured(Protocol):
    """What has a value for each of its parameters."""

    settings: dict[str, Value]


@dataclass(frozen=True)
class Parameter(Generic[V_co]):
    """One setting of a method, declared as an attribute of its class: there it is itself, in a method its value."""

    default: V_co
    allowed: Range[V_co]
    help: str
    more_private: Literal["higher", "lower", "neither"]
    name: str = ""  # that of the attribute

    def __set_name__(self, owner: type, name: str) -> None:
        object.__setattr__(self, "name", name)

    @overload
    def __get__(self, method: None, owner: type) -> "Parameter[V_co]": ...

    @overload
    def __get__(self, method: Configured, owner: type) -> V_co: ...

    def __get__(self, method: Configured | None, owner: type) -> Any:
        return self if method is None else method.settings[self.name]

    @property
    def range(self) -> str:
        """The allowed values, in words."""
        return str(self.allowed)

    def check(self, given: object) -> Value:
        """The value that was given, as number or text, or an error that says what is allowed."""
        value = self.allowed.read(given)
        if value is None:
            raise InputError(
                f"{self.name}={given} is not allowed: {self.name} is a {self.range} (default {self.default})"
            )
        return value


def _written(bound: float) -> str:
    return f"{bound:,.0f}" if bound == int(bound) else f"{bound:g}"


Parameters = tuple[Parameter[Value], ...]


def check_settings(method: str, parameters: Parameters, given: Mapping[str, object]) -> dict[str, Value]:
    """All parameters of a method with their values: the given ones checked, the others at their defaults."""
    names = [parameter.name for parameter in parameters]
    for name in given:
        if name not in names:
            valid = ", ".join(names) or "none"
            raise InputError(f"{method} has no parameter {name!r}: its parameters are {valid}")
    return {p.name: p.check(given.get(p.name, p.default)) for p in parameters}


def group_size(default: int = 5) -> Parameter[int]:
    """The parameter k that most methods share."""
    return Parameter(default, AT_LEAST_TWO, "the fewest users that share a published profile", "higher")
