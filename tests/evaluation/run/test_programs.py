"""Is what a process took its own, and do two programs take turns?"""

import sys
from pathlib import Path

import pytest

from shoal.corpus.errors import InputError
from shoal.evaluation.run.programs import OURS, Program, beside, cost_of, in_turns, python_of, taking_part, told_by


def test_a_command_costs_what_its_process_took_and_one_that_fails_is_said_to(tmp_path: Path) -> None:
    python = (sys.executable, "-S", "-c")
    busy = "held = b'x' * 50_000_000; sum(range(3_000_000))"
    cost, idle = (cost_of(python, [work], tmp_path) for work in (busy, "pass"))
    assert cost.seconds > idle.seconds
    assert 40 < cost.megabytes - idle.megabytes < 80
    assert idle.megabytes < 30  # whatever this process holds
    refused = ["import sys; print('sorry', file=sys.stderr); sys.exit(3)"]
    with pytest.raises(InputError, match="ended with 3: sorry"):
        cost_of(python, refused, tmp_path)
    assert cost_of(python, refused, tmp_path, ends=3).seconds > 0


def test_two_programs_take_turns() -> None:
    asked = []

    def work(program: Program) -> int:
        asked.append(program[0])
        return len(asked)

    assert in_turns(work, [("ours",), ("theirs",)], 2) == [[1, 3], [2, 4]]
    assert asked == ["ours", "theirs"] * 2


def test_another_program_is_found_from_every_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "shoal").write_text(f"#!{sys.executable}\n")
    (tmp_path / "shoal").chmod(0o755)
    monkeypatch.chdir(tmp_path)
    assert taking_part("./shoal") == [OURS, (str(tmp_path / "shoal"),)]
    assert taking_part("") == [OURS]
    with pytest.raises(InputError, match="no program that can be started"):
        taking_part("./other")


def test_the_other_is_told_as_so_many_times_ours() -> None:
    assert beside([2.0], "{:.0f} ms") == "2 ms"
    assert beside([2.0, 5.0], "{:.0f} ms") == "2 ms; the other 2.50 times as much (5 ms)"


def test_a_script_is_run_by_the_python_that_the_program_names(tmp_path: Path) -> None:
    (tmp_path / "shoal").write_text(f"#!{sys.executable}\n")
    other = (str(tmp_path / "shoal"),)
    assert told_by(other, "import json, sys; print(json.dumps(sys.argv[1:]))", "a", "b") == ["a", "b"]
    with pytest.raises(InputError, match="ended with 1: ValueError: too old"):
        told_by(OURS, "raise ValueError('too old')")


@pytest.mark.parametrize(("first", "said"), [("#!/bin/sh\n", "does not begin with"), (None, "cannot be read")])
def test_a_program_without_a_python_is_refused(first: str | None, said: str, tmp_path: Path) -> None:
    if first:
        (tmp_path / "shoal").write_text(first)
    with pytest.raises(InputError, match=said):
        python_of((str(tmp_path / "shoal"),))
