"""Is yesterday's number used only if the code that made it is the same?"""

import csv
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from shoal.cli import main
from shoal.evaluation.run.cache import plugin_digest
from tests.other_package import forget, found_in, install

HELPER = """
def group_size() -> int:
    return {size}
"""
PLUGIN = """
from dataclasses import replace
from shoal.anonymizer.methods.random import Random

class Guest(Random):
    info = replace(Random.info, id="guest", paper="A guest (2026), Grouping by a helper")

    def anonymize(self, data, *, seed=0, progress=print):
        from guest_helper import group_size
        return Random(k=group_size()).anonymize(data, seed=seed, progress=progress)
"""


def install_guest(folder: Path, size: int) -> None:
    """A plug-in of one file beside a helper, with an entry point."""
    install(folder, "guest", PLUGIN, "[shoal.anonymizers]\nguest = guest:Guest\n")
    # Of another length each time: bytecode of the same second and length would be taken for that of the new file.
    (folder / "guest_helper.py").write_text(HELPER.format(size=size) + "#" * size)


@pytest.fixture
def guests(tmp_path: Path) -> Iterator[Path]:
    """A folder of plug-ins that this process finds, and forgets."""
    with found_in(tmp_path / "guests", "guest", "guest_helper"):
        yield tmp_path / "guests"


def median_group(out: Path) -> float:
    with (out / "results.csv").open() as file:
        return float(next(csv.DictReader(file))["anonymity_median"])


def test_a_helper_of_a_plug_in_that_changed_gives_no_old_number(
    corpus_file: Path, log_file: Path, tmp_path: Path, guests: Path
) -> None:
    out = tmp_path / "out"
    given = ["evaluate", "--corpus", str(corpus_file), "--log", str(log_file), "--out", str(out), "--jobs", "1",
             "--methods", "guest", "--measures", "ap10,anonymity_median"]  # fmt: skip
    install_guest(guests, 3)
    forget()
    assert main(given) == 0
    assert median_group(out) == 3
    kept = {path: path.stat().st_mtime_ns for path in (out / "cells").iterdir()}
    install_guest(guests, 8)
    elsewhere = {**os.environ, "PYTHONPATH": str(guests)}
    subprocess.run([sys.executable, "-P", "-m", "shoal", *given], env=elsewhere, check=True)
    assert median_group(out) == 8
    # What does not depend on the helper was not made again.
    assert {path: path.stat().st_mtime_ns for path in kept} == kept
    assert [path.name[:5] for path in set((out / "cells").iterdir()).difference(kept)] == ["guest"]


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "cooks").mkdir()
    (tmp_path / "cooks" / "__init__.py").write_text("import numpy\nfrom cook_words import WORDS\n")
    (tmp_path / "cooks" / "pans.py").write_text("SIZE = 1\n")
    (tmp_path / "cook_words.py").write_text("WORDS = ()\n")
    (tmp_path / "strangers.py").write_text("")
    monkeypatch.syspath_prepend(str(tmp_path))
    return tmp_path


@pytest.mark.parametrize(
    ("changed", "counts"),
    [("cooks/__init__.py", True), ("cooks/pans.py", True), ("cook_words.py", True), ("strangers.py", False)],
)
def test_the_digest_of_a_plug_in_is_of_its_package_and_of_what_that_imports(
    changed: str, counts: bool, package: Path
) -> None:
    def digest() -> str:
        plugin_digest.cache_clear()
        return plugin_digest("cooks.pans")

    before = digest()
    (package / changed).write_text((package / changed).read_text() + "# other\n")
    assert (digest() != before) is counts
