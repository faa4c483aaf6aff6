"""Is yesterday's number used only if the code that made it is the same?"""

import csv
import os
import subprocess
import sys
from pathlib import Path

import pytest

from shoal.evaluation.run.cache import plugin_digest

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


def install(folder: Path, size: int) -> None:
    """A plug-in of one file beside a helper, with an entry point."""
    (folder / "guest-1.0.dist-info").mkdir(parents=True, exist_ok=True)
    (folder / "guest-1.0.dist-info" / "METADATA").write_text("Metadata-Version: 2.1\nName: guest\nVersion: 1.0\n")
    (folder / "guest-1.0.dist-info" / "entry_points.txt").write_text("[shoal.anonymizers]\nguest = guest:Guest\n")
    (folder / "guest.py").write_text(PLUGIN)
    (folder / "guest_helper.py").write_text(HELPER.format(size=size))


def median_group(corpus: Path, log: Path, out: Path, guests: Path) -> float:
    """What the evaluation says of the plug-in, in a process of its own."""
    given = ["--corpus", str(corpus), "--log", str(log), "--out", str(out), "--jobs", "1", "--methods", "guest",
             "--measures", "ap10,anonymity_median"]  # fmt: skip
    environment = {**os.environ, "PYTHONPATH": str(guests)}
    subprocess.run([sys.executable, "-m", "shoal", "evaluate", *given], env=environment, check=True)
    with (out / "results.csv").open() as file:
        return float(next(csv.DictReader(file))["anonymity_median"])


def test_a_helper_of_a_plug_in_that_changed_gives_no_old_number(
    corpus_file: Path, log_file: Path, tmp_path: Path
) -> None:
    guests, out = tmp_path / "guests", tmp_path / "out"
    install(guests, 3)
    assert median_group(corpus_file, log_file, out, guests) == 3
    kept = {path: path.stat().st_mtime_ns for path in (out / "cells").iterdir()}
    install(guests, 8)
    assert median_group(corpus_file, log_file, out, guests) == 8
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
