"""What does a start load? Only what is asked for: help answers at once, and nothing draws before it is looked at."""

import re
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from shoal.cli import COMMANDS, main

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
    assert not {"altair", "vl_convert", "sklearn", "scipy.stats", "scipy.optimize"} & loaded_by(program)
