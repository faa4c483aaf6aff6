"""Is cost measured as it is? Memory of a piece of work, growth as an exponent, and the table of the benchmarks."""

import json
import subprocess
import sys
from importlib import import_module
from inspect import signature

import numpy as np
import pytest

from shoal.cli import main
from shoal.corpus.errors import InputError
from shoal.corpus.progress import Progress
from shoal.evaluation.bench import Row, benchmarks
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
    monkeypatch.setattr("shoal.cli.bench.run_benchmark", lambda name, full, progress: rows)
    assert main(["bench", "reading", "--json"]) == 1
    assert [row["holds"] for row in json.loads(capsys.readouterr().out)] == [True, False]
    assert main(["bench", "reading"]) == 1
    assert "NO" in capsys.readouterr().out


@pytest.mark.parametrize("name", benchmarks())
def test_every_module_of_the_folder_is_a_benchmark(name: str) -> None:
    module = import_module(f"shoal.evaluation.bench.{name}")
    assert list(signature(module.run).parameters) == ["full", "progress"]
    assert (module.__doc__ or "").splitlines()[0].count("?") == 1  # the question that its rows answer


def test_an_unknown_benchmark_is_refused_with_the_known_ones(capsys: pytest.CaptureFixture[str]) -> None:
    assert {"reading", "clump", "search"} <= set(benchmarks())
    assert main(["bench", "speed"]) == 2
    assert "choose from" in capsys.readouterr().err


def test_a_benchmark_that_breaks_takes_no_rows_of_others_with_it(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def run(name: str, full: bool, progress: Progress) -> list[Row]:
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
