"""Are corpora and logs of ir_datasets read where the user has them, and is nothing fetched where not?"""

import sys
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any, NamedTuple

import ir_datasets
import pytest
from ir_datasets.datasets.base import Dataset
from ir_datasets.formats import BaseDocs, BaseQlogs, GenericDoc, TsvDocs
from ir_datasets.util import Cache, RequestsDownload

import shoal
from shoal.cli import main
from shoal.corpus.store.ir_datasets import log_file
from shoal.evaluation.experiment import make_experiment


class Page(NamedTuple):
    doc_id: str
    title: str
    text: str
    url: str


class Item(NamedTuple):
    doc_id: str
    rank: int
    clicked: bool


class Event(NamedTuple):
    user_id: str
    query_id: str
    query: str
    query_orig: str
    time: datetime
    items: tuple[Item, ...]


class Pages(BaseDocs):
    def docs_iter(self) -> Iterator[Page]:
        for i, word in enumerate(["wine", "beer", "bread"] * 4):
            yield Page(f"d{i}", f"{word} {i}", f"{word} for dinner", f"http://example.org/{i}")

    def docs_cls(self) -> type[Page]:
        return Page


class Plain(BaseDocs):
    def docs_iter(self) -> Iterator[GenericDoc]:
        return iter([GenericDoc("1", "red wine"), GenericDoc("2", "dark beer")])

    def docs_cls(self) -> type[GenericDoc]:
        return GenericDoc


class Asked(BaseQlogs):
    def qlogs_iter(self) -> Iterator[Event]:
        clicked = (Item("d0", 1, True), Item("d3", 2, False), Item("d6", 3, True))
        for second, user in enumerate(["u1", "u1", "u2"]):
            items = clicked if second == 0 else ()
            yield Event(user, "q", "red wine", "Red  wine?", datetime(2006, 3, 1, 10, 0, second), items)

    def qlogs_cls(self) -> type[Event]:
        return Event


@pytest.fixture(autouse=True)
def registered(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Three data sets that are known, of which one would have to be fetched; and a cache and a home of their own."""
    monkeypatch.setenv("SHOAL_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(ir_datasets.registry, "_registered", dict(ir_datasets.registry._registered))
    away = Cache(RequestsDownload("http://127.0.0.1:9/away.tsv"), tmp_path / "away.tsv")
    known = {
        "shoal-test": Dataset(Pages(), Asked()),
        "shoal-plain": Dataset(Plain()),
        "shoal-away": Dataset(TsvDocs(away)),
    }
    for name, dataset in known.items():
        ir_datasets.registry.register(name, dataset)


def test_documents_are_searched_by_the_id_of_their_data_set() -> None:
    corpus = shoal.open_corpus("ir_datasets:shoal-test")
    assert len(corpus) == 12
    assert corpus.search("beer dinner", limit=1).results[0].title == "beer 1"
    corpus.close()
    plain = shoal.open_corpus("ir_datasets:shoal-plain")
    assert plain.search("dark").results[0].id == "2"
    plain.close()


def test_a_log_is_what_was_typed_and_the_documents_that_were_clicked() -> None:
    log = shoal.read_log("ir_datasets:shoal-test")
    assert repr(log) == "QueryLog(3 queries of 2 users, 1 distinct, 2 clicks, people: real)"
    assert log.queries.to_list() == ["Red wine?"]
    assert log.urls.gather(log.click_url).to_list() == ["d0", "d6"]
    assert log_file("ir_datasets:shoal-test").stat().st_mode & 0o077 == 0
    experiment = make_experiment({"corpus": "ir_datasets:shoal-test", "log": "ir_datasets:shoal-test"})
    assert experiment.corpus == "ir_datasets:shoal-test"


@pytest.mark.parametrize(
    ("given", "told"),
    [
        (["search", "wine", "--corpus", "ir_datasets:nowhere"], "knows no 'nowhere'"),
        (["search", "wine", "--corpus", "ir_datasets:shoal-away"], "ir_datasets export shoal-away docs"),
        (["measure", "x", "--log", "ir_datasets:shoal-plain"], "no release at x"),
        (["evaluate", "--corpus", "ir_datasets:shoal-test", "--log", "ir_datasets:shoal-plain"], "has no query log"),
    ],
)
def test_what_is_not_there_is_said_in_one_line_and_fetched_by_nobody(
    given: list[str], told: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(given) == 2
    error = capsys.readouterr().err
    assert told in error
    assert error.count("\n") == 1
    assert not list((tmp_path / "cache" / "ir_datasets").glob("[!.]*.jsonl")) or "shoal-test" in given[2]


def test_a_data_set_that_must_be_asked_for_says_how(monkeypatch: pytest.MonkeyPatch) -> None:
    def ask(self: Any) -> Iterator[Page]:
        raise RuntimeError("To use the documents,\nrun a script")

    monkeypatch.setattr(Pages, "docs_iter", ask)
    with pytest.raises(shoal.InputError, match="not on this machine: To use the documents, run a script"):
        shoal.open_corpus("ir_datasets:shoal-test")


def test_without_the_library_it_is_said_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ir_datasets", None)  # type: ignore[arg-type]
    with pytest.raises(shoal.InputError, match="shoal-search\\[ir_datasets\\]"):
        shoal.read_log("ir_datasets:aol-ia")
