"""Do two processes never give one name to two compiled loops?"""

import os
import subprocess
import sys
from pathlib import Path

PROGRAM = """
from numba import njit
import shoal.anonymizer

@njit
def twice(number):
    return 2 * number

twice(1)
print(next(iter(twice.overloads.values())).fndesc.mangled_name)
"""


def compiled_name() -> str:
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=True)
    return done.stdout.strip()


def test_two_processes_name_what_they_compile_apart() -> None:
    first, second = compiled_name(), compiled_name()
    assert "twice" in first
    assert first != second


FORK = """
import os
from numba.core.bytecode import FunctionIdentity
import shoal.anonymizer

child = os.fork()
if child:
    os.waitpid(child, 0)
print(next(FunctionIdentity._unique_ids), flush=True)
"""


def test_a_forked_process_counts_from_elsewhere() -> None:
    done = subprocess.run([sys.executable, "-c", FORK], capture_output=True, text=True, check=True)
    first, second = map(int, done.stdout.split())
    assert abs(first - second) > 1000


COMPILE = "from shoal.anonymizer import compile_method; compile_method('microaggregation')"


def test_what_one_process_compiled_another_takes_from_the_disk(tmp_path: Path) -> None:
    kept: list[dict[Path, int]] = []
    for _ in range(2):
        environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}
        subprocess.run([sys.executable, "-P", "-c", COMPILE], env=environment, check=True, capture_output=True)
        kept.append({path: path.stat().st_mtime_ns for path in tmp_path.rglob("*.nbc")})
    assert kept[0]
    assert kept[0] == kept[1]


LOOP = """
from numba import njit
import shoal.anonymizer

@njit(cache=True)
def first(pair):
    return pair.first
"""
PAIR = "from typing import NamedTuple\n\nclass Pair(NamedTuple):\n    first: int\n"


def test_what_an_older_version_kept_is_compiled_anew_where_its_types_have_moved(tmp_path: Path) -> None:
    (tmp_path / "loop.py").write_text(LOOP)
    for place in ("old_place", "new_place"):
        (tmp_path / f"{place}.py").write_text(PAIR)
        program = f"from loop import first; from {place} import Pair; print(first(Pair(7)))"
        environment = {**os.environ, "PYTHONPATH": str(tmp_path), "NUMBA_CACHE_DIR": str(tmp_path / "kept")}
        done = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True)
        assert done.stdout == "7\n", done.stderr
        (tmp_path / f"{place}.py").unlink()
