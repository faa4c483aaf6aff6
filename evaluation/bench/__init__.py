"""What does it cost? Each module here is a benchmark with a `run(full, progress)` that gives rows of one table."""

import os
import platform
import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules

from shoal.corpus.progress import Progress
from shoal.corpus.version import VERSION

_CPUINFO = Path("/proc/cpuinfo")


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


def can_compare(name: str) -> bool:
    """Whether another program can run the benchmark in turns with this one."""
    return hasattr(import_module(f"{__name__}.{name}"), "compare")


def run_benchmark(name: str, full: bool, progress: Progress, against: str = "") -> Sequence[Row]:
    """Run one of the benchmarks: small sizes, or with `full` the sizes of the papers and of all of AOL.

    `against` is another program, which runs the same in turns where a benchmark can `compare`.
    """
    module = import_module(f"{__name__}.{name}")
    rows: Sequence[Row] = module.compare(full, progress, against) if against else module.run(full, progress)
    return rows


def machine() -> str:
    """When and where: the day, the processors and the memory."""
    named = re.search(r"model name\s*:\s*(.+)", _CPUINFO.read_text()) if _CPUINFO.exists() else None
    gigabytes = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    processors = f"{os.cpu_count()} processors ({named[1] if named else platform.machine()})"
    return f"{date.today()}, {processors}, {gigabytes:.0f} GB, Python {platform.python_version()}, shoal {VERSION}"
