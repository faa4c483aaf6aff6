"""Is what the documents say true? Their example passes the contract, they name every command, their files are there."""

import argparse
import re
import tomllib
from pathlib import Path

import pytest

from shoal.anonymizer.contract import check_method
from shoal.anonymizer.registry import methods
from shoal.cli import make_parser
from shoal.cli.methods import methods_page, told_methods

ROOT = Path(__file__).parent.parent
PAGES = [*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md")]
# A file or a folder of ours in backticks; one with a placeholder in it, <id>, is a pattern.
NAMED = re.compile(r"`((?:corpus|search|anonymizer|evaluation|webapp|shoal|tests|docs)/[\w./<>*-]*)`")


def test_the_example_method_passes_the_contract() -> None:
    example = re.search(r"```python\n(.*?)```", (ROOT / "CONTRIBUTING.md").read_text(), re.DOTALL)
    assert example
    names: dict[str, object] = {"__name__": "example"}
    exec(compile(example[1], "CONTRIBUTING.md", "exec"), names)
    check_method(names["Pairs"])  # type: ignore[arg-type]


def test_the_readme_names_every_command_and_method() -> None:
    readme = (ROOT / "README.md").read_text()
    commands = next(a for a in make_parser()._actions if isinstance(a, argparse._SubParsersAction)).choices
    assert [name for name in commands if f"shoal {name}" not in re.sub(" +", " ", readme)] == []
    assert [id for id in methods() if f"`{id}`" not in readme] == []


def test_the_page_of_the_methods_is_what_they_declare() -> None:
    page = (ROOT / "docs" / "methods.md").read_text()
    assert page == methods_page(told_methods()), "run `make docs`"


def test_every_dependency_is_explained() -> None:
    told = (ROOT / "CONTRIBUTING.md").read_text().lower()
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    asked = [*project["dependencies"], *(one for extra in project["optional-dependencies"].values() for one in extra)]
    listed = {re.split(r"[^\w-]", one)[0].lower() for one in asked}
    assert len(listed) > 20
    assert [name for name in listed if name not in told] == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_file_that_a_page_names_is_there(page: Path) -> None:
    named = [re.sub("<.*?>", "*", name) for name in NAMED.findall(page.read_text())]
    assert [name for name in named if not any(ROOT.glob(name))] == []


def test_every_walk_goes_forward_through_files_that_are_there() -> None:
    page = (ROOT / "docs" / "architecture.md").read_text()
    walks = re.split(r"^## ", page, flags=re.MULTILINE)[1:]
    steps = {walk.partition("\n")[0]: re.findall(r"^\d+\. `([^`]+)`", walk, re.MULTILINE) for walk in walks}
    walked = {title: files for title, files in steps.items() if files}
    assert len(walked) == 5
    for title, files in walked.items():
        assert len(files) == len(set(files)), title
        assert [name for name in files if not (ROOT / name).is_file()] == [], title


def test_the_year_of_a_paper_is_the_one_its_method_declares() -> None:
    """A citation is a name, others or none, and a year; what cites no paper of a method is passed over."""
    papers = [method.info.paper for method in methods().values() if method.info.paper]
    cited = re.compile(
        r"\b([A-Z][a-zä-ü]+)(?: (?:&|and) [A-Z][a-zä-ü]+(?:-[A-Z][a-zä-ü]+)?| et al\.)?,? \(?((?:19|20)\d\d)\b"
    )
    code = [path for layer in ("anonymizer", "evaluation") for path in (ROOT / layer).rglob("*.py")]
    wrong = {
        (page.name, found[0])
        for page in [*PAGES, *code]
        for found in cited.finditer(page.read_text())
        if any(found[1] in paper for paper in papers)
        and not any(found[1] in paper and found[2] in paper for paper in papers)
    }
    assert wrong == set()
