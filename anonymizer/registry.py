"""Which methods are there? Built-in ones, and those of other packages by the entry point group shoal.anonymizers."""

from collections.abc import Iterable, Mapping
from functools import lru_cache
from importlib import import_module
from importlib.metadata import entry_points
from pkgutil import iter_modules

import shoal.anonymizer.methods
from shoal.anonymizer.base import Method, MethodInfo
from shoal.anonymizer.declaration import check_declaration
from shoal.corpus.errors import InputError
from shoal.corpus.knowledge import Knowledge

ENTRY_POINTS = "shoal.anonymizers"


@lru_cache(maxsize=1)
def methods() -> dict[str, type[Method]]:
    """Every method by its id: the controls first, then the others by name."""
    return collect([*_built_in(), *_of_other_packages()])


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
    plain = ("id", "title", "paper", "unit", "protects", "does_not_protect", "randomness")
    return {**{name: getattr(info, name) for name in plain}, "parameters": parameters}


def _built_in() -> Iterable[type[Method]]:
    for module in sorted(iter_modules(shoal.anonymizer.methods.__path__), key=lambda m: m.name):
        content = vars(import_module(f"shoal.anonymizer.methods.{module.name}"))
        for thing in content.values():
            is_method = isinstance(thing, type) and issubclass(thing, Method) and "info" in vars(thing)
            if is_method and thing.__module__ == f"shoal.anonymizer.methods.{module.name}":
                yield thing


def _of_other_packages() -> Iterable[type[Method]]:
    for point in entry_points(group=ENTRY_POINTS):
        try:
            yield point.load()
        except (ImportError, AttributeError, SyntaxError) as error:
            raise InputError(
                f"the method {point.name!r} ({point.value}) cannot be loaded: {error}; mend or remove its package"
            ) from error
