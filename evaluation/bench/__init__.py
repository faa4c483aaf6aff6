"""What does it cost? Each module here is a benchmark with a `run(full, progress)` that gives rows of one table."""

from collections.abc import Sequence
from dataclasses import dataclass
from importlib import import_module
from pkgutil import iter_modules

from shoal.corpus.errors import InputError
from shoal.corpus.progress import Progress


@dataclass(frozen=True)
class Row:
    """One line of the cost table: what was measured, at which size, what it must reach and what it reached."""

    what: str
    at: str
    must_reach: str
    reached: str
    holds: bool


def benchmarks() -> list[str]:
    return sorted(module.name for module in iter_modules(__path__))


def run_benchmark(name: str, full: bool, progress: Progress) -> Sequence[Row]:
    """Run one benchmark: small sizes, or with `full` the sizes of the papers and of all of AOL."""
    if name not in benchmarks():
        raise InputError(f"unknown benchmark {name!r}: choose from {', '.join(benchmarks())}")
    rows: Sequence[Row] = import_module(f"{__name__}.{name}").run(full, progress)
    return rows
