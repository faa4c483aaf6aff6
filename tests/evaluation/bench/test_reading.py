"""Is a log read by the library of a program, in a process of its own?"""

from pathlib import Path

import pytest

from shoal.evaluation.bench import reading
from shoal.evaluation.run.programs import OURS, Program, told_by


def test_the_library_of_a_program_tells_the_seconds_of_reading(tmp_path: Path) -> None:
    log = tmp_path / "log.tsv"
    log.write_text("AnonID\tQuery\tQueryTime\tItemRank\tClickURL\n" + "7\tred wine\t2006-03-01 07:17:12\t\t\n" * 100)
    assert 0 < told_by(OURS, reading._ALONE, str(log)) < 60


def test_the_best_of_both_programs_are_held_against_each_other(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []

    def told(program: Program, script: str, path: str) -> float:
        asked.append(program[0])
        return (1.0 if program == OURS else 2.0) + len(asked) / 10

    monkeypatch.setattr(reading, "told_by", told)
    row = reading._row_against(Path("log.tsv"), "few rows", "/bin/sh")
    assert asked == [OURS[0], "/bin/sh"] * 3
    assert row.reached == "1.10 s; the other 2.00 times as much (2.20 s)"
