"""Do two processes never give one name to two compiled loops, and does one take from the disk what another compiled?"""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from shoal import compiling
from shoal.corpus.progress import silent

PROGRAM = """
import os
from numba import njit
from numba.core.bytecode import FunctionIdentity
import shoal.anonymizer

@njit
def twice(number):
    return 2 * number

twice(1)
name = next(iter(twice.overloads.values())).fndesc.mangled_name
"""
FORK = """
print(name, flush=True)
child = os.fork()
if child:
    os.waitpid(child, 0)
print(next(FunctionIdentity._unique_ids), flush=True)
"""


def test_two_processes_name_what_they_compile_apart_and_a_forked_one_counts_from_elsewhere() -> None:
    here: dict[str, str] = {}
    exec(PROGRAM, here)
    done = subprocess.run([sys.executable, "-P", "-c", PROGRAM + FORK], capture_output=True, text=True, check=True)
    there, first, second = done.stdout.split()
    assert "twice" in there
    assert there != here["name"]
    assert abs(int(first) - int(second)) > 1000


READ_ONLY = "import os; os.access = lambda *given: False; import numba, shoal.anonymizer; print(numba.config.CACHE_DIR)"


def test_what_is_compiled_of_an_installation_that_cannot_be_written_is_kept_in_the_cache(tmp_path: Path) -> None:
    environment = {name: value for name, value in os.environ.items() if name != "NUMBA_CACHE_DIR"}
    environment["SHOAL_CACHE"] = str(tmp_path)
    ran = subprocess.run([sys.executable, "-P", "-c", READ_ONLY], env=environment, capture_output=True, text=True)
    assert ran.stdout.strip() == str(tmp_path / "numba"), ran.stderr


def test_set_up_compiles_each_part_once_until_a_file_changes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    compiled: list[str] = []
    monkeypatch.setenv("SHOAL_CACHE", str(tmp_path))
    monkeypatch.setattr(compiling, "loops", lambda: {"one": lambda: compiled.append("one")})
    for state in ("state-a", "state-a", "state-b"):
        monkeypatch.setattr(compiling, "_state", lambda state=state: state)
        compiling.compile_all(silent)
    assert compiled == ["one", "one"]
    assert [path.name for path in (tmp_path / "compiled").glob("state-*")] == ["state-b"]


LOOP = """
from numba import njit
import shoal.anonymizer

@njit(cache=True)
def first(pair):
    return pair.first
"""
PAIR = "from typing import NamedTuple\n\nclass Pair(NamedTuple):\n    first: int\n"


def run_with_types_of(place: str, folder: Path) -> dict[Path, int]:
    """Call the loop in a process of its own; what is kept of it afterwards."""
    program = f"from loop import first; from {place} import Pair; print(first(Pair(7)))"
    environment = {**os.environ, "PYTHONPATH": str(folder), "NUMBA_CACHE_DIR": str(folder / "kept")}
    done = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True)
    assert done.stdout == "7\n", done.stderr
    return {path: path.stat().st_mtime_ns for path in folder.rglob("*.nbc")}


def test_what_one_process_compiled_another_takes_from_the_disk_unless_its_types_have_moved(tmp_path: Path) -> None:
    (tmp_path / "loop.py").write_text(LOOP)
    (tmp_path / "old_place.py").write_text(PAIR)
    kept = run_with_types_of("old_place", tmp_path)
    assert kept
    assert run_with_types_of("old_place", tmp_path) == kept
    (tmp_path / "old_place.py").rename(tmp_path / "new_place.py")
    assert run_with_types_of("new_place", tmp_path) != kept
