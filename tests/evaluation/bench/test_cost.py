"""Is cost measured as it is? Memory of a piece of work, growth as an exponent, and the table of the benchmarks."""

import json
import subprocess
import sys
from datetime import date
from importlib import import_module
from inspect import signature
from pathlib import Path

import numpy as np
import pytest

from shoal.cli import main
from shoal.corpus.errors import InputError
from shoal.corpus.progress import Progress
from shoal.evaluation.bench import Row, benchmarks, can_compare, commands
from shoal.evaluation.bench.commands import Searches, Start
from shoal.evaluation.run.programs import Cost, Program
from shoal.evaluation.run.timing import fitted_exponent, in_own_process

_GIVEN_BACK = """
import numpy as np
from shoal.evaluation.run.timing import PeakMemory
with PeakMemory() as memory:
    np.ones(8_000_000).sum()
with PeakMemory() as less:
    pass
print(memory.grown, less.grown)
"""


def test_memory_that_is_given_back_still_counts_for_the_peak() -> None:
    # A process of its own: what others freed in this one before could be handed out again, and nothing would grow.
    ran = subprocess.run([sys.executable, "-P", "-c", _GIVEN_BACK], capture_output=True, text=True, check=True)
    grown, less = map(float, ran.stdout.split())
    assert 50 < grown < 200
    assert less < 50


def test_the_exponent_of_a_square_is_two() -> None:
    assert fitted_exponent([10, 20, 40], [1, 4, 16]) == pytest.approx(2)


def test_the_table_says_what_was_reached_and_the_exit_code_whether_it_is_enough(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = [Row("a", "1 user", "1 s", "0.5 s", True), Row("b", "2 users", "1 s", "3 s", False)]
    monkeypatch.setattr("shoal.cli.bench.run_benchmark", lambda *given: rows)
    assert main(["bench", "reading", "--json"]) == 1
    assert [row["holds"] for row in json.loads(capsys.readouterr().out)] == [True, False]
    assert main(["bench", "reading"]) == 1
    assert "NO" in capsys.readouterr().out
    assert main(["bench", "reading", "--markdown"]) == 1
    measured, _, heading, *_ = capsys.readouterr().out.splitlines()
    assert measured.startswith(f"Measured: {date.today()}")
    assert heading.startswith("| reading | at |")


def test_a_row_says_how_many_times_as_long_the_best_of_the_other_took(tmp_path: Path) -> None:
    asked = []

    def work(program: Program, folder: Path) -> Cost:
        asked.append((program[0], folder.name))
        return Cost({"ours": 1.0, "theirs": 3.0}[program[0]] / len(asked), 100)

    costs = commands.best(work, [("ours",), ("theirs",)], tmp_path, 2)
    assert asked == [("ours", "0"), ("theirs", "1")] * 2
    row = commands.row("shoal verify", [10, 20], [[Cost(1, 100)] * 2, costs], 0)
    assert costs[0].seconds == pytest.approx(1 / 3)
    assert "2.25 times as long" in row.reached
    assert row.holds


def test_of_starts_the_least_counts_and_first_searches_are_held_against_the_next() -> None:
    def start(seconds: float, first: float) -> Start:
        return Start(Cost(seconds, 100), 2 * seconds, Searches(first, [first] * 4), Searches(5, [5.0] * 20))

    began, searched = commands.start_rows([[start(2, 9), start(1, 10), start(4, 11)], [start(3, 400)]])
    assert began.reached.startswith(
        "1.00 s, 100 MB; the other 3.00 times as long (3.00 s, 100 MB); 2.00 s by the clock"
    )
    assert searched.reached.startswith("10 ms of processor each, the next 5 ms; the longest 10 ms by the clock")
    assert began.holds
    assert searched.holds
    assert not commands.start_rows([[start(4, 400)]])[1].holds


def test_another_program_runs_what_it_can_and_the_rest_is_named(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = []

    def run(name: str, full: bool, progress: Progress, against: str) -> list[Row]:
        asked.append((name, against))
        return []

    monkeypatch.setattr("shoal.cli.bench.run_benchmark", run)
    assert main(["bench", "--against", "/bin/sh"]) == 0
    assert asked == [(name, "/bin/sh") for name in ("commands", "pages", "reading", "search")]
    assert "Left out, since they cannot run another program: affinity," in capsys.readouterr().err
    assert main(["bench", "clump", "reading", "--against", "/bin/sh"]) == 2
    assert "clump cannot run another program; these can: commands, pages" in capsys.readouterr().err
    assert main(["bench", "reading", "--against", "/no/shoal"]) == 2
    assert "no program that can be started" in capsys.readouterr().err
    assert len(asked) == 4


@pytest.mark.parametrize("name", benchmarks())
def test_every_module_of_the_folder_is_a_benchmark(name: str) -> None:
    module = import_module(f"shoal.evaluation.bench.{name}")
    assert list(signature(module.run).parameters) == ["full", "progress"]
    if can_compare(name):
        assert list(signature(module.compare).parameters) == ["full", "progress", "against"]
    assert (module.__doc__ or "").splitlines()[0].count("?") == 1  # the question that its rows answer


def test_an_unknown_benchmark_is_refused_with_the_known_ones(capsys: pytest.CaptureFixture[str]) -> None:
    assert {"reading", "clump", "search"} <= set(benchmarks())
    assert main(["bench", "speed"]) == 2
    assert "choose from" in capsys.readouterr().err


def test_a_benchmark_that_breaks_takes_no_rows_of_others_with_it(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def run(name: str, full: bool, progress: Progress, against: str) -> list[Row]:
        if name == "search":
            raise InputError("no room for the index")
        return [Row("lines", "1 log", "1 s", "0.5 s", True)]

    monkeypatch.setattr("shoal.cli.bench.run_benchmark", run)
    assert main(["bench", "reading", "search"]) == 2
    assert "0.5 s" in capsys.readouterr().out


def test_the_peak_of_a_process_is_its_own() -> None:
    held = np.ones(40_000_000)  # 320 MB here, and none of them there
    _, _, megabytes = in_own_process(sum, [1, 2, 3])
    assert megabytes < held.nbytes / 1e6
