"""What does a start load? Only what is asked for: help answers at once, and nothing draws before it is looked at."""

import re
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from shoal.anonymizer import registry
from shoal.anonymizer.manifest import LARGEST
from shoal.cli import COMMANDS, arguments, main
from shoal.cli import methods as methods_command
from shoal.cli.methods import told_methods
from shoal.corpus.knowledge.taxonomy import DICTIONARIES
from shoal.corpus.logs.columns import ROLES
from shoal.search.engines.opensearch import URL
from shoal.search.index import ENGINES
from shoal.search.personal import CANDIDATES, DEFAULT_WEIGHT

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


@pytest.mark.parametrize(
    "arguments",
    [["--help"], ["--version"], ["nonsense"], [], ["evaluate", "--nonsense"], ["serve", "--help"], ["methods"]],
)
def test_help_refusals_and_the_list_of_methods_load_nothing_heavy(arguments: list[str]) -> None:
    if arguments == ["methods"]:
        told_methods()  # what they say is kept from the first time on
    assert not HEAVY & loaded_by(LOADED.format(arguments=arguments))


def test_what_methods_say_is_asked_anew_when_a_file_of_theirs_changes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SHOAL_CACHE", str(tmp_path))
    first = told_methods()
    (kept,) = tmp_path.glob("methods-*.json")
    kept.write_text("[]")
    assert told_methods() == []
    monkeypatch.setattr(methods_command, "VERSION", "of another day")
    assert told_methods() == first
    assert not kept.exists()


def test_options_say_what_the_program_goes_by() -> None:
    said = (arguments.COLUMNS, arguments.DICTIONARIES, arguments.WEIGHT, arguments.CANDIDATES, arguments.LARGEST)
    assert said == (ROLES, DICTIONARIES, DEFAULT_WEIGHT, CANDIDATES, LARGEST)
    assert (arguments.ENGINES, arguments.CLUSTER) == (ENGINES, URL)
    assert methods_command.ENTRY_POINTS == registry.ENTRY_POINTS


def test_the_program_alone_shows_a_guide_whose_examples_are_commands(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([]) == 0
    named = re.findall(r"^ +shoal (\w+)", capsys.readouterr().out, re.MULTILINE)
    assert named == ["serve", "simulate", "anonymize", "evaluate"]
    assert set(named) <= set(COMMANDS)


@pytest.mark.parametrize("shell", ["bash", "zsh"])
def test_a_shell_completes_every_command_and_its_options(shell: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["--print-completion", shell])
    assert ended.value.code == 0
    script = capsys.readouterr().out
    assert [name for name in (*COMMANDS, "--trec", "--people", "--reproduce") if name not in script] == []


def test_a_port_that_is_taken_is_said_before_anything_else(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        assert main(["serve", "--port", str(port), "--instance", str(tmp_path / "instance")]) == 2
    error = capsys.readouterr().err
    assert f"port {port} of 127.0.0.1 is taken" in error
    assert f"PORT={port + 1}" in error
    assert error.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


def test_a_server_starts_without_what_draws_pictures_or_learns() -> None:
    program = "import sys, shoal.webapp.core.application; print(*sys.modules, file=sys.stderr)"
    seldom = {"scipy.stats", "scipy.optimize", "scipy.special", "scipy.sparse.csgraph"}
    assert not {"altair", "vl_convert", "sklearn", *seldom} & loaded_by(program)


def test_what_nobody_asks_anything_of_is_loaded_when_somebody_does() -> None:
    program = """
import sys
from shoal.cli import Later
sys.meta_path.insert(0, Later())
import scipy.sparse, numpy
before = "numpy.f2py.crackfortran" in sys.modules
assert callable(numpy.f2py.get_include)
print(before, "numpy.f2py.crackfortran" in sys.modules, file=sys.stderr)
"""
    assert loaded_by(program) == {"False", "True"}


def test_only_the_program_changes_how_anything_is_loaded() -> None:
    program = "import sys; first = [*sys.meta_path]; import shoal.cli; print(first == sys.meta_path, file=sys.stderr)"
    assert loaded_by(program) == {"True"}
