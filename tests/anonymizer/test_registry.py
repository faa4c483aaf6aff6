"""Are methods found, told apart, and refused when they are none?"""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from shoal.anonymizer.base import Method
from shoal.anonymizer.methods.everyone import Everyone
from shoal.anonymizer.methods.plain import Plain
from shoal.anonymizer.methods.random import Random
from shoal.anonymizer.registry import collect, find_method, make_method, methods
from shoal.corpus.errors import InputError


@pytest.fixture
def entry_point(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder on the path where a package may put its entry points."""
    folder = tmp_path / "odd_package-1.0.dist-info"
    folder.mkdir()
    (folder / "METADATA").write_text("Metadata-Version: 2.1\nName: odd-package\nVersion: 1.0\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    methods.cache_clear()
    yield tmp_path
    methods.cache_clear()
    sys.modules.pop("odd_package", None)


def register(folder: Path, value: str, code: str = "") -> None:
    (folder / "odd_package.py").write_text(code)
    (folder / "odd_package-1.0.dist-info" / "entry_points.txt").write_text(f"[shoal.anonymizers]\nodd = {value}\n")


def test_the_controls_come_first_and_the_papers_after_them() -> None:
    ids = list(methods())
    assert ids[:4] == ["everyone", "original", "plain", "random"]
    assert "linkability" in ids[4:]
    assert ids[4:] == sorted(ids[4:])


def test_an_unknown_method_is_an_error_that_lists_the_known() -> None:
    with pytest.raises(InputError, match="unknown method 'nothing': the methods are everyone, original, plain, random"):
        find_method("nothing")


def test_a_method_is_made_with_its_settings() -> None:
    assert make_method("random", {"k": "7"}).settings == {"k": 7}
    assert repr(make_method("random", {"k": 7})) == "Random(k=7)"


def test_two_methods_of_one_id_are_an_error() -> None:
    twin = type("Twin", (Random,), {"info": Random.info})
    with pytest.raises(InputError, match="two anonymizers are called 'random'"):
        collect([Plain, Random, twin])


@pytest.mark.parametrize("thing", [Random(), "random", int, Method])
def test_what_is_no_method_is_an_error(thing: object) -> None:
    with pytest.raises(InputError, match=r"is registered as an anonymizer but is no anonymizer\.base\.Method"):
        collect([Everyone, thing])  # type: ignore[list-item]


def test_a_duplicate_id_of_another_package_is_an_error(entry_point: Path) -> None:
    register(entry_point, "shoal.anonymizer.methods.random:Random")
    with pytest.raises(InputError, match="two anonymizers are called 'random'"):
        methods()


@pytest.mark.parametrize(
    ("value", "code"),
    [
        ("no_such_module:Thing", ""),
        ("odd_package:Missing", ""),
        ("odd_package:Thing", "import no_such_library\n"),
        ("odd_package:Thing", "def broken(:\n"),
    ],
)
def test_a_package_that_cannot_be_loaded_is_named(entry_point: Path, value: str, code: str) -> None:
    register(entry_point, value, code)
    with pytest.raises(InputError, match=r"the anonymizer 'odd' \(.*\) cannot be loaded"):
        methods()
