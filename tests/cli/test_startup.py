"""What does a start load? Only what is asked for: help answers at once, and nothing draws before it is looked at."""

import subprocess
import sys

import pytest

LOADED = """
import sys
from shoal.cli import main
try:
    main({arguments!r})
except SystemExit:
    pass
print(*sorted({{name.partition(".")[0] for name in sys.modules}}), file=sys.stderr)
"""
HEAVY = {"altair", "flask", "networkx", "nltk", "numba", "numpy", "polars", "scipy", "sklearn", "tantivy", "whoosh"}


def loaded_by(program: str) -> set[str]:
    ran = subprocess.run([sys.executable, "-P", "-c", program], capture_output=True, text=True, check=True)
    return set(ran.stderr.splitlines()[-1].split())


@pytest.mark.parametrize("arguments", [["--help"], ["--version"], ["nonsense"], []])
def test_help_and_refusals_load_nothing_heavy(arguments: list[str]) -> None:
    assert not HEAVY & loaded_by(LOADED.format(arguments=arguments))


def test_a_server_starts_without_what_draws_pictures_or_learns() -> None:
    program = "import sys, shoal.webapp.core.application; print(*sys.modules, file=sys.stderr)"
    assert not {"altair", "vl_convert", "sklearn", "scipy.stats", "scipy.optimize"} & loaded_by(program)
