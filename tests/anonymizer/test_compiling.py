"""Do two processes never give one name to two compiled loops?"""

import multiprocessing
import subprocess
import sys

from numba.core.bytecode import FunctionIdentity

import anonymizer.compiling

PROGRAM = """
from numba import njit
import anonymizer

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


def _next_number(_: int) -> int:
    return next(FunctionIdentity._unique_ids)


def test_a_forked_process_counts_from_elsewhere() -> None:
    anonymizer.compiling.count_from_a_number_of_its_own()
    with multiprocessing.get_context("fork").Pool(1) as pool:
        theirs = pool.map(_next_number, [0])
    assert abs(theirs[0] - next(FunctionIdentity._unique_ids)) > 1000
