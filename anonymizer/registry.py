"""Which methods are there, and is each declared well? Built-in ones, and those of the group shoal.anonymizers."""

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from importlib import import_module
from importlib.metadata import entry_points
from inspect import isabstract
from pkgutil import iter_modules
from typing import Any

import shoal.anonymizer.methods
from shoal.anonymizer.base import FAMILIES, LogMethod, Method, MethodInfo, ProfileMethod, declared_parameters
from shoal.anonymizer.blocks import CountedMethod
from shoal.anonymizer.parameters import Parameter, Value
from shoal.corpus.errors import InputError
from shoal.corpus.knowledge import Knowledge

ENTRY_POINTS = "shoal.anonymizers"
_ID = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")
_RESERVED = {*dir(ProfileMethod), *dir(LogMethod), *Method.__annotations__}


@lru_cache(maxsize=1)
def methods() -> dict[str, type[Method]]:
    """Every method by its id: the controls first, then the others by name."""
    return collect([*_built_in(), *of_other_packages(ENTRY_POINTS, "method")])


def collect(found: Iterable[type[Method]]) -> dict[str, type[Method]]:
    """Methods by id. Two with one id, or one that is declared wrongly, is an error."""
    table: dict[str, type[Method]] = {}
    for method in found:
        check_declaration(method)
        if method.info.id in table:
            raise InputError(f"two methods are called {method.info.id!r}: {table[method.info.id]} and {method}")
        table[method.info.id] = method
    return dict(sorted(table.items(), key=lambda item: (bool(item[1].info.paper), item[0])))


def find_method(id: str) -> type[Method]:
    table = methods()
    if id not in table:
        raise InputError(f"unknown method {id!r}: the methods are {', '.join(table)}")
    return table[id]


def make_method(id: str, settings: Mapping[str, object], knowledge: Knowledge | None = None) -> Method:
    return find_method(id)(knowledge, **settings)


def describe(info: MethodInfo) -> dict[str, object]:
    """A method as plain data, for machines."""
    parameters = [
        {"name": p.name, "default": p.default, "range": p.range, "more_private": p.more_private, "help": p.help}
        for p in info.parameters
    ]
    plain = ("id", "title", "paper", "unit", "family", "protects", "does_not_protect", "randomness", "most_users")
    return {**{name: getattr(info, name) for name in plain}, "parameters": parameters}


def _built_in() -> Iterable[type[Method]]:
    for module in sorted(iter_modules(shoal.anonymizer.methods.__path__), key=lambda m: m.name):
        content = vars(import_module(f"shoal.anonymizer.methods.{module.name}"))
        for thing in content.values():
            is_method = isinstance(thing, type) and issubclass(thing, Method) and "info" in vars(thing)
            if is_method and thing.__module__ == f"shoal.anonymizer.methods.{module.name}":
                yield thing


def of_other_packages(group: str, what: str) -> Iterator[Any]:
    """What other packages bring by a group of entry points: methods, and by others verifiers and measures."""
    for point in entry_points(group=group):
        try:
            yield point.load()
        except (ImportError, AttributeError, SyntaxError) as error:
            raise InputError(
                f"the {what} {point.name!r} ({point.value}) cannot be loaded: {error}; mend or remove its package"
            ) from error


def check_declaration(method: object) -> None:
    """Refuse what is no method, or one whose declaration is wrong, by an error that names it and what to mend."""
    if not (isinstance(method, type) and issubclass(method, Method) and isinstance(_info(method), MethodInfo)):
        raise InputError(
            f"{method!r} is registered as a method but is no anonymizer.base.Method with an info: "
            "mend or uninstall its package"
        )
    for fault in _faults(method):
        where = f"{method.__module__}.{method.__qualname__}"
        raise InputError(f"the method {method.info.id!r} ({where}) is declared wrongly: {fault}")


def _info(method: type[Method]) -> object:
    return getattr(method, "info", None)


def _faults(method: type[Method]) -> Iterator[str]:
    yield from _faults_of_info(method.info)
    declared = declared_parameters(method)
    if method.info.parameters != tuple(declared.values()):
        yield "its info lists other parameters than its class declares: declare each once, as an attribute"
    for attribute, parameter in declared.items():
        yield from (f"parameter {attribute}: {fault}" for fault in _faults_of_parameter(attribute, parameter))
    if method.info.cluster == "counts" and not issubclass(method, CountedMethod):
        yield 'its info says cluster="counts", but it is no anonymizer.blocks.CountedMethod'
    if isabstract(method):
        yield f"it does not say how to {', '.join(sorted(method.__abstractmethods__))}"


def _faults_of_info(info: MethodInfo) -> Iterator[str]:
    if not _ID.fullmatch(info.id):
        yield f"{info.id!r} is no id: use words-like-this"
    if not info.title.strip() or info.title.endswith("."):
        yield "the title is a name, without a full stop"
    for name in ("protects", "does_not_protect"):
        text = getattr(info, name)
        if not text.endswith(".") or "\n" in text or len(text) <= 10:
            yield f"{name} is one sentence"
    for name, words in (
        ("unit", ("user", "query", "log")),
        ("family", tuple(FAMILIES)),
        ("randomness", ("public", "secret")),
    ):
        if getattr(info, name) not in words:
            yield f"{name} is one of {', '.join(words)}"


def _faults_of_parameter(attribute: str, parameter: Parameter[Value]) -> Iterator[str]:
    allowed = parameter.allowed
    if attribute in _RESERVED:
        yield "a method has an attribute of that name already, choose another"
    if attribute != parameter.name:
        yield f"it is declared a second time as {parameter.name}, with one Parameter for both"
    if attribute.startswith("_") or attribute != attribute.lower():
        yield "its name is in lower case and begins with a letter"
    if len(parameter.help.strip()) <= 5:
        yield "it is not said what it does"
    if parameter.more_private not in ("higher", "lower", "neither"):
        yield "say which way is more private: higher, lower or neither"
    if allowed.kind not in (int, float, str) or (allowed.kind is str and not allowed.words):
        yield "its range is of whole numbers, numbers or words"
    if allowed.low is not None and allowed.high is not None and allowed.low > allowed.high:
        yield f"its range is empty, from {allowed.low:g} to {allowed.high:g}"
    if not allowed.holds(parameter.default):
        yield f"its default {parameter.default!r} is not allowed: it is a {allowed}"
