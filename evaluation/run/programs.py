"""Which programs take part, and what does a process of one take? Ours, and another shoal in turns with it."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from shoal.corpus.errors import InputError

OURS = (sys.executable, "-P", "-m", "shoal")
# A process counts the memory of the one that started it for its own peak: a small one starts what is measured.
_WATCH = """
import json, os, sys
pid = os.fork()
if not pid:
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    os.execvp(sys.argv[1], sys.argv[1:])
_, status, used = os.wait4(pid, 0)
print(json.dumps([os.waitstatus_to_exitcode(status), used.ru_utime + used.ru_stime, used.ru_maxrss / 1024]))
"""

Program = Sequence[str]
T = TypeVar("T")


@dataclass(frozen=True)
class Cost:
    """What a process and all that it started and waited for took."""

    seconds: float  # of processor time
    megabytes: float  # at most


def taking_part(against: str) -> list[Program]:
    """This program, and the other where one is named, which is started in folders of its own."""
    if not against:
        return [OURS]
    found = shutil.which(against)
    if not found:
        raise InputError(f"{against} is no program that can be started: give the path of an installed shoal")
    return [OURS, (os.path.abspath(found),)]


def in_turns(work: Callable[[Program], T], programs: Sequence[Program], repeats: int) -> list[list[T]]:
    """What a work gives for each program, so many times, one program after the other."""
    turns = [[work(program) for program in programs] for _ in range(repeats)]
    return [list(given) for given in zip(*turns, strict=True)]


def beside(measured: Sequence[float], form: str) -> str:
    """What ours took, and how many times as much the other."""
    ours, *others = measured
    told = [f"the other {other / ours:.2f} times as much ({form.format(other)})" for other in others]
    return "; ".join([form.format(ours), *told])


def cost_of(program: Program, arguments: Sequence[str], folder: Path | None = None, ends: int = 0) -> Cost:
    """Run a command to its end. One that does not end as it should is an error, with the last that it said."""
    with tempfile.TemporaryFile() as said:
        watched = [sys.executable, "-I", "-S", "-c", _WATCH, *program, *arguments]
        done = subprocess.run(watched, cwd=folder, stdout=subprocess.PIPE, stderr=said, check=False)
        code, seconds, megabytes = json.loads(done.stdout)
        said.seek(0)
        if code != ends:
            last = said.read().decode(errors="replace").strip().splitlines()[-1:]
            raise InputError(f"{program[-1]} {' '.join(arguments)} ended with {code}: {' '.join(last)}")
    return Cost(seconds, megabytes)


def told_by(program: Program, script: str, *arguments: str) -> Any:
    """What a script prints (JSON) that the program's own Python runs, for what only its library tells."""
    command = [python_of(program), "-P", "-c", script, *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        last = done.stderr.strip().splitlines()[-1:]
        raise InputError(f"a script with the library of {program[-1]} ended with {done.returncode}: {' '.join(last)}")
    return json.loads(done.stdout)


def python_of(program: Program) -> str:
    """The Python that runs a program, which the first line of an installed one names."""
    if program == OURS:
        return sys.executable
    try:
        with Path(program[0]).open("rb") as file:
            first = file.readline().decode(errors="replace").strip()
    except OSError as error:
        raise InputError(f"{program[0]} cannot be read: give the path of an installed shoal") from error
    if not (first.startswith("#!") and "python" in Path(first).name):
        raise InputError(
            f"{program[0]} does not begin with the path of its Python: give the path of an installed shoal"
        )
    return first.removeprefix("#!")
