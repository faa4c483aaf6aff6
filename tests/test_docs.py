"""Is what the documents say true? Their example passes the contract, and they name every command."""

import argparse
import re
from pathlib import Path

from shoal.anonymizer.contract import check_method
from shoal.anonymizer.registry import methods
from shoal.cli import make_parser

ROOT = Path(__file__).parent.parent


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


def test_every_dependency_is_explained() -> None:
    told = (ROOT / "CONTRIBUTING.md").read_text().lower()
    listed = re.findall(r'^  "([A-Za-z0-9_-]+)', (ROOT / "pyproject.toml").read_text(), re.MULTILINE)
    assert listed
    assert [name for name in listed if name.lower() not in told] == []
