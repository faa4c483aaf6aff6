"""Which measures are there? Those of the files here, and of other packages by the entry point group shoal.measures."""

from collections.abc import Iterable, Iterator
from functools import lru_cache
from importlib import import_module
from pkgutil import iter_modules
from typing import TypeVar

import shoal.evaluation.measures
from shoal.anonymizer.registry import of_other_packages
from shoal.corpus.errors import InputError
from shoal.evaluation.measures.base import HEADINGS, Column, Measure

M = TypeVar("M", bound=Measure)
ENTRY_POINTS = "shoal.measures"
GROUPS = ("all", "thorough")  # names of several measures at once
# In the order of the results; a file that is not named here stands behind these.
_FILES = (
    "precision", "linkage", "singling_out", "losses", "patterns", "profile_shape", "semantic_remain",
    "released_queries", "linkability", "attackers",
)  # fmt: skip


@lru_cache(maxsize=1)
def measures() -> dict[str, Measure]:
    """Every measure by its name, in the order of the results."""
    return collect([*_built_in(), *of_other_packages(ENTRY_POINTS, "measure")])


def collect(found: Iterable[Measure]) -> dict[str, Measure]:
    """Measures by name. Something that is no measure, a wrong declaration, or two of one column is an error."""
    table: dict[str, Measure] = {}
    taken: dict[str, Measure] = {}
    for measure in found:
        _check(measure)
        for column in measure.columns:
            if column.name in taken:
                raise InputError(
                    f"two measures have the column {column.name!r}: {taken[column.name].name} and {measure.name}"
                )
            taken[column.name] = measure
        table[measure.name] = measure
    return table


def find_measure(name: str) -> Measure:
    """The measure of a name, or of one of its columns."""
    found = measures().get(name) or (columns()[name].measure if name in columns() else None)
    if found is None:
        raise InputError(f"no measure {name!r}: choose from {', '.join(measures())}")
    return found


@lru_cache(maxsize=1)
def columns() -> dict[str, Column]:
    """Every column of the results by its name, in their order: the main ones, those against clicks, all others."""
    every = [column for measure in measures().values() for column in measure.columns]
    return {column.name: column for column in sorted(every, key=lambda c: 0 if c.is_main else 1 if c.clicks else 2)}


def columns_named(names: Iterable[str]) -> list[str]:
    """The columns that are meant by names of columns, of whole measures, or of a group.

    `all` are those that are taken when nothing is said, `thorough` those that run the method once more.
    """
    found: dict[str, None] = {}
    for name in names:
        if name in GROUPS:
            found |= dict.fromkeys(c.name for c in columns().values() if c.measure.thorough == (name == "thorough"))
        elif name not in columns() and name not in measures():
            raise InputError(f"no measure {name!r}: choose from {', '.join([*GROUPS, *columns()])}")
        else:
            found |= dict.fromkeys([name] if name in columns() else [c.name for c in measures()[name].columns])
    return list(found)


def measures_of(kind: type[M]) -> list[M]:
    """The measures of one kind."""
    return [measure for measure in measures().values() if isinstance(measure, kind)]


def columns_of(kind: type[Measure]) -> list[str]:
    """The names of the columns of one kind of measures."""
    return [name for name, column in columns().items() if isinstance(column.measure, kind)]


def headline() -> list[Column]:
    """The few columns that a short table shows."""
    return [column for column in columns().values() if column.is_headline and not column.end]


def describe(measure: Measure) -> dict[str, object]:
    """A measure as plain data, for machines."""
    return {
        "name": measure.name, "title": measure.told(measure.title), "says": measure.told(measure.says),
        "formula": measure.told(measure.formula), "heading": measure.heading, "better": measure.better,
        "range": measure.range, "unit": measure.unit, "paper": measure.paper, "thorough": measure.thorough,
        "columns": [column.name for column in measure.columns],
    }  # fmt: skip


def _check(measure: object) -> None:
    if not isinstance(measure, Measure) or not hasattr(measure, "compute"):
        raise InputError(
            f"{measure!r} is registered as a measure but is no measure of evaluation.measures.base: "
            "mend or uninstall its package"
        )
    if not measure.name.replace("_", "").isalnum() or not measure.name[0].isalpha():
        raise InputError(f"a measure is called {measure.name!r}: a name is letters, digits and underscores")
    if measure.heading not in HEADINGS or measure.better not in ("higher", "lower", "neither"):
        raise InputError(
            f"the measure {measure.name!r} has heading {measure.heading!r} and better {measure.better!r}: expected one "
            f"of {', '.join(HEADINGS)}, and higher, lower or neither"
        )
    for text in ("title", "says", "formula"):
        if not getattr(measure, text).strip():
            raise InputError(f"the measure {measure.name!r} has no {text}: say it in words")


def _built_in() -> Iterator[Measure]:
    names = [module.name for module in iter_modules(shoal.evaluation.measures.__path__)]
    ordered = [name for name in _FILES if name in names] + sorted(set(names).difference(_FILES))
    seen: set[int] = set()
    for name in ordered:
        for thing in vars(import_module(f"{shoal.evaluation.measures.__name__}.{name}")).values():
            if isinstance(thing, Measure) and id(thing) not in seen:
                seen.add(id(thing))
                yield thing
