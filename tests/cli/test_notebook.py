"""Does Shoal work in a notebook? Ten lines from a frame to a plot, every public name by its own example."""

import doctest
import inspect
import subprocess
import sys
from pathlib import Path
from typing import Any

import pandas
import pytest

import shoal
from shoal.corpora import Corpus
from shoal.corpus.logs import load_log
from shoal.experiments import Table
from shoal.notebook import Made

TEN_LINES = """
log = shoal.read_log(pandas.read_csv(log_file, sep="\\t"), user="AnonID", query="Query", click="ClickURL")
made = shoal.anonymize(log, "common", k=6, t=2, seed=0)
groups = shoal.anonymize(log, "random", k=4)
assert made.verify().holds and groups.verify().holds
found = groups.measure(measures=["linkage5"])
news = shoal.open_corpus(corpus_file)
answer = news.search("kitchen dinner", profile=made.profile_of("user-1"), weight=0.85)
table = shoal.evaluate(news, log, {"common": {"k": 6, "t": 2}, "random": {"k": [3, 6]}}, measures=["ap10", "linkage5"])
best = table.best(linkage5=1)
table.plot().save(folder / "plot.svg")
"""


@pytest.fixture(scope="module")
def after(corpus_file: Path, log_file: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What the ten lines leave behind."""
    names = {"pandas": pandas, "shoal": shoal, "corpus_file": corpus_file, "log_file": log_file}
    names["folder"] = tmp_path_factory.mktemp("notebook")
    assert len(TEN_LINES.strip().splitlines()) == 10
    exec(TEN_LINES, names)
    return names


def test_ten_lines_lead_from_a_frame_to_a_plot(after: dict[str, Any], log_file: Path) -> None:
    assert after["log"].digest() == load_log(str(log_file))[0].digest()
    assert 0 <= after["found"]["linkage5"] <= 1
    assert after["answer"].results[0].title.startswith("bread")
    assert after["answer"].profile == "the published profile"
    assert after["table"].frame()["method"].to_list() == ["common", "random", "random"]
    assert pandas.DataFrame(after["table"].frame().to_dicts())["method"].to_list() == ["common", "random", "random"]
    assert after["best"]["ap10"] == after["table"].frame()["ap10"].max()
    assert (after["folder"] / "plot.svg").read_text().startswith("<svg")


def test_what_is_made_shows_itself_in_short_and_as_a_table(after: dict[str, Any]) -> None:
    for name in ("log", "made", "news", "table", "answer"):
        assert len(repr(after[name])) < 120 or name == "answer"
    assert "wine" in repr(after["made"].profile_of("user-0"))
    assert "<table" in after["table"]._repr_html_()
    assert "<table" in after["answer"]._repr_html_()
    assert "<table" in after["made"]._repr_html_()
    assert after["table"].plot()._repr_html_().startswith("<svg")


def test_a_saved_release_is_the_same_when_it_is_loaded(after: dict[str, Any], tmp_path: Path) -> None:
    made, log = after["made"], after["log"]
    made.save(tmp_path / "release")
    loaded = shoal.load(tmp_path / "release")
    assert loaded.verify(log).holds
    assert dict(loaded.profile_of("user-1")) == pytest.approx(dict(made.profile_of("user-1")))
    assert loaded.measure(log, ["linkage5"]) == made.measure(measures=["linkage5"])
    with pytest.raises(shoal.InputError, match="--force"):
        made.save(tmp_path / "release")
    made.save(tmp_path / "release", force=True)
    with pytest.raises(shoal.InputError, match="give the one"):
        loaded.verify()


def test_a_saved_table_is_what_the_command_writes(after: dict[str, Any], tmp_path: Path) -> None:
    after["table"].save(tmp_path)
    assert {"results.csv", "report.html", "precision-risk.png"} <= {path.name for path in tmp_path.iterdir()}


def test_documents_and_profiles_may_be_frames_and_tables(after: dict[str, Any]) -> None:
    words = ["red wine", "dark beer", "white wine", "fresh bread"] * 5
    frame = pandas.DataFrame({"id": range(20), "title": words, "text": [f"{word} dinner" for word in words]})
    corpus = shoal.open_corpus(frame)
    assert corpus.search("dinner", profile={"beer": 1.0}).results[0].title == "dark beer"
    assert corpus.search("dinner", profile={"bread": 1.0}, limit=1).frame()["title"].to_list() == ["fresh bread"]
    corpus.close()


def test_rows_that_cannot_be_read_are_a_warning_with_their_reasons() -> None:
    with pytest.warns(UserWarning, match="1: no query"):
        shoal.read_log([("u1", "wine"), ("u2", "")])


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("shoal.read_log(7)", "is no log"),
        ("shoal.read_log([])", "is no log"),
        ("shoal.read_log({'a': ['x'], 'b': ['y']})", "which are user and query"),
        ("shoal.anonymize(log, 'nothing')", "nothing"),
        ("shoal.anonymize(log, 'random', k='many')", "k"),
        ("shoal.load('nowhere')", "no release at nowhere"),
        ("shoal.open_corpus({'id': [1]})", "no column title"),
        ("news.search('')", "nothing to search for"),
        ("made.profile_of('nobody')", "no user 'nobody'"),
        ("table.best(linkage5=-1)", "no setting"),
        ("table.best(speed=1)", "no measure 'speed'"),
        ("table.plot().save('plot.jpg')", ".svg or .png"),
        ("table.plot('speed-risk')", "choose one of precision-risk"),
    ],
)
def test_what_cannot_be_done_is_said_in_one_line(line: str, told: str, after: dict[str, Any]) -> None:
    with pytest.raises(shoal.InputError, match=told) as error:
        exec(line, dict(after))
    assert "\n" not in str(error.value)


def test_every_public_name_is_documented_and_its_example_is_true(
    corpus_file: Path, log_file: Path, tmp_path: Path, own_cache: None
) -> None:
    names: dict[str, Any] = {"shoal": shoal, "corpus_file": corpus_file, "folder": tmp_path / "release"}
    names |= {"run_file": tmp_path / "run", "qrels_file": tmp_path / "qrels"}
    first = shoal.open_corpus(corpus_file).search("kitchen dinner", limit=1).results[0].id
    (tmp_path / "qrels").write_text(f"1 0 {first} 1\n")
    order = [shoal.read_log, shoal.anonymize, shoal.load, shoal.open_corpus, Corpus.search, Corpus.run]
    order += [shoal.evaluate, shoal.score_run, Table.best]
    assert {thing.__name__ for thing in order} >= set(shoal.__all__) - {"InputError"}
    runner = doctest.DocTestRunner()
    for thing in order:
        if thing is shoal.evaluate:  # three rows are too few
            names["log"] = load_log(str(log_file))[0]
        examples = doctest.DocTestParser().get_doctest(inspect.getdoc(thing) or "", names, thing.__name__, None, None)
        assert examples.examples, thing
        runner.run(examples, clear_globs=False)
        names |= examples.globs
    assert runner.failures == 0
    undocumented = [
        f"{kind.__name__}.{name}"
        for kind in (Made, Corpus, Table)
        for name, member in vars(kind).items()
        if inspect.isfunction(member) and not name.startswith("_") and not member.__doc__
    ]
    assert undocumented == ["Corpus.close"]
    assert set(shoal.__all__) <= set(dir(shoal))


def test_to_import_shoal_loads_nothing_heavy() -> None:
    program = "import sys, shoal; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-P", "-c", program], capture_output=True, text=True, check=True)
    assert not {"numpy", "polars", "scipy", "numba", "flask"} & set(loaded.stdout.split())


def test_an_attack_on_half_of_the_people_stands_in_one_table_with_those_on_all(after: dict[str, Any]) -> None:
    asked = {"token-hashing": {}, "random": {"k": [3, 6]}}  # half of the people are the log that reads the hashes
    table = shoal.evaluate(after["news"], after["log"], asked, measures=["ap10", "linkage5", "linkage5_low"])
    found = table.frame()
    assert sorted(found["method"]) == ["random", "random", "token-hashing"]
    assert found["linkage5_low"].null_count() == 0
