"""Is a method declared well? What is said of it, and its parameters, before anybody can choose it."""

import re
from collections.abc import Iterator
from inspect import isabstract

from shoal.anonymizer.base import LogMethod, Method, MethodInfo, ProfileMethod, declared_parameters
from shoal.anonymizer.parameters import Parameter, Value
from shoal.corpus.errors import InputError

_ID = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")
_RESERVED = {*dir(ProfileMethod), *dir(LogMethod), *Method.__annotations__}


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
    for name, words in (("unit", ("user", "query")), ("randomness", ("public", "secret"))):
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
