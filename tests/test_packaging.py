"""Is everything under one name, `shoal`, when it is installed, and is nothing of the current folder ever imported?"""

import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest

from shoal.cli import make_parser
from shoal.corpus.version import VERSION

ROOT = Path(__file__).parent.parent
LAYERS = ("corpus", "search", "anonymizer", "evaluation", "webapp")
NOT_OURS = ("__pycache__", "*.pyc", "*.egg-info", "vendor")
BUILD = "import sys; from setuptools import build_meta; build_meta.build_wheel(sys.argv[1])"
# Whoever imports one of these runs code that is not ours.
STRANGERS = ("search.py", "corpus/__init__.py", "evaluation.py", "webapp.py", "anonymizer/__init__.py")


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel of this tree, built in a copy of it, without network."""
    tree = tmp_path_factory.mktemp("tree")
    ignored = shutil.ignore_patterns(*NOT_OURS)
    for name in ("shoal", *LAYERS):
        shutil.copytree(ROOT / name, tree / name, symlinks=True, ignore=ignored)
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, tree)
    site = tree / "docs" / "_build" / "html"  # where `make docs` puts it
    (site / "_static").mkdir(parents=True)
    for name in ("index.html", "_static/manual.css"):
        (site / name).write_text("built before")
    folder = tmp_path_factory.mktemp("wheel")
    subprocess.run([sys.executable, "-P", "-c", BUILD, str(folder)], cwd=tree, check=True, capture_output=True)
    return next(folder.glob("*.whl"))


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the wheel, as pip would put it there, beside a distribution that owns `corpus` and `search`."""
    site = tmp_path_factory.mktemp("site")
    write_strangers(site)
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(site)
    return site


@pytest.fixture
def strange_folder(tmp_path: Path) -> Path:
    write_strangers(tmp_path)
    (tmp_path / "numpy.py").write_text("raise SystemExit('a file of the current folder was run')\n")
    return tmp_path


def write_strangers(folder: Path) -> None:
    for name in STRANGERS:
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text("raise SystemExit('a file of somebody else was run')\n")


def run(command: list[str], folder: Path, **environment: str) -> str:
    own = {name: value for name, value in os.environ.items() if name != "PYTHONSAFEPATH"}
    done = subprocess.run(command, cwd=folder, env={**own, **environment}, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_folders_of_the_tree_are_linked_under_the_one_name() -> None:
    assert {name: os.readlink(ROOT / "shoal" / name) for name in LAYERS} == {name: f"../{name}" for name in LAYERS}


def test_a_wheel_installs_one_name_and_every_file(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        held = set(archive.namelist())
    tops = {name.split("/")[0] for name in held}
    assert {top for top in tops if not top.endswith(".dist-info")} == {"shoal"}
    ours = {
        f"shoal/{path.relative_to(ROOT)}" for layer in LAYERS for path in (ROOT / layer).rglob("*") if _is_ours(path)
    }
    assert sorted(ours - held) == []


def test_a_wheel_brings_the_documentation_that_was_built(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        assert {"shoal/webapp/site/index.html", "shoal/webapp/site/_static/manual.css"} <= set(archive.namelist())
        described = next(name for name in archive.namelist() if name.endswith("METADATA"))
        assert "Name: shoal-search\n" in archive.read(described).decode()


def test_the_citation_is_of_this_version() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert f"version: {project['version']}\n" in (ROOT / "CITATION.cff").read_text()
    assert project["version"] == VERSION


def test_the_dockerfile_names_what_there_is() -> None:
    said = (ROOT / "Dockerfile").read_text()
    assert "wheel:" in (ROOT / "Makefile").read_text()
    assert "make wheel" in said
    start = json.loads(re.findall(r"^CMD (\[.*\])$", said, re.MULTILINE)[0])
    assert make_parser().parse_args(start).host == "0.0.0.0"
    assert "/healthz" in said
    assert {"SHOAL_STATE", "SHOAL_CACHE"} <= set(re.findall(r"SHOAL_\w+", said))
    assert "docs" not in (ROOT / ".dockerignore").read_text().split()


def test_the_hooks_of_a_commit_ask_nobody_for_code() -> None:
    said = (ROOT / ".pre-commit-config.yaml").read_text()
    assert re.findall(r"repo: (\S+)", said) == ["local"]
    assert set(re.findall(r"language: (\S+)", said)) == {"system"}


def _is_ours(path: Path) -> bool:
    return path.is_file() and not {"__pycache__", "vendor"} & set(path.parts) and path.suffix != ".pyc"


def test_no_file_of_another_distribution_is_overwritten(installed: Path) -> None:
    for name in STRANGERS:
        assert "somebody else" in (installed / name).read_text()


def test_what_is_installed_imports_only_itself(installed: Path, strange_folder: Path) -> None:
    program = (
        "import shoal, shoal.cli, shoal.webapp, shoal.evaluation.experiment, sys;"
        "ours = [m.__file__ for n, m in sys.modules.items() if n.split('.')[0] == 'shoal' and m.__file__];"
        "print(all(f.startswith(sys.argv[1]) for f in ours), len(ours) > 20)"
    )
    said = run([sys.executable, "-P", "-c", program, str(installed)], strange_folder, PYTHONPATH=str(installed))
    assert said == "True True\n"


def test_the_program_runs_nothing_of_the_current_folder(strange_folder: Path) -> None:
    shoal = Path(sys.executable).with_name("shoal")
    assert "linkability" in run([str(shoal), "methods"], strange_folder)
    assert "linkability" in run([sys.executable, "-m", "shoal", "methods"], strange_folder)
    assert "1. " in run([str(shoal), "search", "climate change", "--limit", "1"], strange_folder)


def test_processes_that_the_program_starts_do_not_look_into_the_current_folder_either(strange_folder: Path) -> None:
    program = (
        "import sys; sys.path.pop(0); sys.argv = ['shoal', 'methods', 'plain', '--json']\n"
        "import subprocess; from shoal.cli import program; program()\n"
        "subprocess.run([sys.executable, '-c', 'import numpy'], check=True)"
    )
    run([sys.executable, "-c", program], strange_folder)


def test_a_session_in_that_folder_imports_ours(strange_folder: Path) -> None:
    (strange_folder / "numpy.py").unlink()  # a session runs what lies beside it, as Python does, but for our names
    said = run([sys.executable, "-c", "import shoal.search.personal as p; print(p.__file__)"], strange_folder)
    assert Path(said.strip()).resolve() == (ROOT / "search" / "personal.py").resolve()
