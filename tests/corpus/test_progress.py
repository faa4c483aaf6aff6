"""Does a bar show how far work is, in a terminal and in a notebook, and is it gone afterwards?"""

import sys
from types import ModuleType
from typing import Any

import pytest
import tqdm

from shoal.corpus.progress import bar
from shoal.corpus.querylog import counted


class Drawn:
    """What was asked of tqdm."""

    bars: list["Drawn"] = []

    def __init__(self, **given: Any) -> None:
        self.given, self.n, self.total, self.closed = given, 0, 0, False
        self.bars.append(self)

    def update(self, steps: int) -> None:
        self.n += steps

    def close(self) -> None:
        self.closed = True


@pytest.fixture
def drawn(monkeypatch: pytest.MonkeyPatch) -> list[Drawn]:
    monkeypatch.setattr(tqdm, "tqdm", Drawn)
    monkeypatch.setattr(Drawn, "bars", [])
    monkeypatch.delitem(sys.modules, "ipykernel", raising=False)
    return Drawn.bars


def test_each_stage_has_a_bar_and_none_stays(drawn: list[Drawn]) -> None:
    with bar() as progress:
        for done in (1, 3):
            progress(done, 4, "reading")
        progress(1, 2, "writing")
    assert [(one.given["desc"], one.n, one.total, one.closed) for one in drawn] == [
        ("reading", 3, 4, True),
        ("writing", 1, 2, True),
    ]
    assert drawn[0].given["disable"] is None  # shown in a terminal only


def test_a_notebook_shows_it_though_it_is_no_terminal(drawn: list[Drawn], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ipykernel", ModuleType("ipykernel"))
    monkeypatch.setattr("shoal.corpus.progress.find_spec", lambda name: None)
    with bar() as progress:
        progress(1, 2, "reading")
    assert drawn[0].given["disable"] is False


def test_who_wants_to_be_told_otherwise_is(drawn: list[Drawn]) -> None:
    told: list[tuple[int, int, str]] = []
    with bar(lambda *given: told.append(given)) as progress:
        progress(1, 2, "reading")
    assert told == [(1, 2, "reading")]
    assert drawn == []


def test_one_of_something_is_no_plural() -> None:
    assert [counted(1, "row"), counted(0, "row"), counted(1, "query"), counted(1_000, "query")] == [
        "1 row",
        "0 rows",
        "1 query",
        "1,000 queries",
    ]
