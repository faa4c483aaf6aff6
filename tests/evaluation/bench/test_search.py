"""Are engines held against each other on the same words, and against BM25 as the formula says?"""

from pathlib import Path

import numpy as np
import pytest

from shoal.corpus.documents import Documents
from shoal.evaluation.bench import search
from shoal.evaluation.run.programs import OURS, told_by
from shoal.search.analysis import Analysis, analyse

TEXTS = ["red wine and white wine", "white bread", "a red car", "wine of the south and red bread", "a car"]


@pytest.fixture
def analysis() -> Analysis:
    return analyse(["" for _ in TEXTS], TEXTS, list)


@pytest.mark.parametrize("name", [name for name in search.ENGINES if not name.startswith(("ours", "bm25s"))])
def test_a_peer_finds_what_holds_any_of_the_words(name: str, analysis: Analysis, tmp_path: Path) -> None:
    (tmp_path / "engine").mkdir()
    best = search.ENGINES[name](analysis, tmp_path)
    assert {*best(["wine", "bread"], 10)} == {*search._exact(analysis)(["wine", "bread"])} == {0, 1, 3}


def test_exact_bm25_counts_what_is_rare_and_short_for_more(analysis: Analysis) -> None:
    assert search._exact(analysis)(["car"]) == [4, 2]


def test_bm25s_is_a_line_where_it_is_not_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    held = search.Held(1.0, np.ones(3), 1.0, 1.0)
    monkeypatch.setattr(search, "find_spec", lambda name: None)
    monkeypatch.setattr(search, "in_own_process", lambda *_: (held, 0.0, 0.0))
    rows = search.peers(20_000, lambda *_: None)
    assert [row.what for row in rows] == list(search.ENGINES)
    assert "pip install bm25s" in rows[-1].reached
    assert all(row.holds for row in rows)


def test_what_threads_hold_is_told_by_a_process_of_the_program(tmp_path: Path) -> None:
    documents = Documents("few", [*"abcde"], [""] * 5, TEXTS, [""] * 5, [""] * 5)
    search._write_lines(documents, tmp_path / "few.jsonl")
    assert told_by(OURS, search._INDEX, str(tmp_path / "few.jsonl"), str(tmp_path / "index")) is None
    held, first, later = told_by(OURS, search._THREADS, str(tmp_path / "index"), '["wine", "bread", "car"]', "2")
    assert 0 < held < 500
    assert 0 < later < 1000
    assert first > 0


def test_a_row_holds_by_what_ours_takes_and_tells_the_other() -> None:
    row = search._memory_row(1_000, [(100.0, 10.0, 1.0), (2000.0, 400.0, 1.0)])
    assert row.reached.startswith(
        "100 MB; the other 20.00 times as much (2,000 MB); first search 10 ms of processor; the other"
    )
    assert row.holds
    assert not search._memory_row(1_000, [(2000.0, 400.0, 1.0)]).holds
