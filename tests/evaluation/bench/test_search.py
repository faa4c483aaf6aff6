"""Are engines held against each other on the same words, and against BM25 as the formula says?"""

from pathlib import Path

import numpy as np
import pytest

from shoal.evaluation.bench import search
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
