"""Do others who score our TREC runs by ir_measures find what results.csv says?"""

import csv
import json
import re
import shlex
import stat
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import ir_measures
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from ir_measures import AP, P

import shoal
from shoal.cli import main
from shoal.corpus.logs.aol import save_log
from shoal.search.trec import falling, read_topics
from tests.examples import examples

PAGE = (Path(__file__).parents[2] / "docs" / "trec.md").read_text()
SHELL = [shlex.split(line) for line in re.findall(r"```sh\n(.*?)```", PAGE, re.DOTALL)[0].splitlines()]
PYTHON = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)[0]
EXACT = {"abs": 1e-9, "rel": 0}
Scores = dict[str, float]
Score = Callable[[str | Path, str | Path], Scores]


@pytest.fixture(scope="module")
def folder(corpus_file: Path, log_file: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A folder in which the commands of the page were typed."""
    here = tmp_path_factory.mktemp("trec")
    (here / "docs.jsonl").symlink_to(corpus_file)
    (here / "log.tsv").symlink_to(log_file)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(here)
        assert [command[0] for command in SHELL] == ["shoal", "shoal", "shoal", "ir_measures"]
        for command in SHELL[:3]:
            assert main(command[1:]) == 0
        yield here


@pytest.fixture(scope="module")
def by_ir_measures() -> Score:
    """What the page does with nothing but ir_measures."""
    names: dict[str, Any] = {}
    exec(PYTHON, names)
    return lambda qrels, run: names["scores"](str(qrels), str(run))


def rows(path: str) -> list[dict[str, str]]:
    with Path(path).open() as file:
        return list(csv.DictReader(file))


def row_of(method: str) -> Scores:
    row = next(row for row in rows("results/results.csv") if row["method"] == method)
    return {name: float(row[name]) for name in ("ap10", "p10", "ndcg10", "mrr")}


def test_every_run_of_an_evaluation_scores_as_its_row_says(folder: Path, by_ir_measures: Score) -> None:
    named = {(row["method"], row["params"]): row for row in rows("results/results.csv")}
    runs = rows("results/trec/runs.csv")
    assert {(run["method"], run["params"]) for run in runs} == set(named)
    assert {run["ranking"] for run in runs} == {"alone", "served"}
    for run in runs:
        found = by_ir_measures("results/trec/qrels.txt", f"results/trec/{run['file']}")
        clicked = by_ir_measures("results/trec/qrels-clicks.txt", f"results/trec/{run['file']}")
        row = named[run["method"], run["params"]]
        if run["ranking"] == "alone":
            assert row_of(run["method"]) == pytest.approx(found, **EXACT)
            assert float(row["ap10_clicks"]) == pytest.approx(clicked["ap10"], **EXACT)
        else:
            assert float(row["ap10_served"]) == pytest.approx(found["ap10"], **EXACT)


def test_a_run_of_search_by_a_release_scores_as_the_row_of_its_method(folder: Path, by_ir_measures: Score) -> None:
    found = by_ir_measures("results/trec/qrels.txt", "common.run")
    assert row_of("common") == pytest.approx(found, **EXACT)
    assert shoal.score_run("results/trec/qrels.txt", "common.run") == pytest.approx(found, **EXACT)
    for method, settings in (("random", ["--set", "k=3"]), ("linkability", ["--set", "p=0.4"]), ("plain", [])):
        anonymize, search = ([word.replace("common", method) for word in command[1:]] for command in SHELL[1:3])
        assert main([*anonymize[:5], *settings, "--out", "release", "--force"]) == 0
        assert main(search) == 0
        assert row_of(method) == pytest.approx(by_ir_measures("results/trec/qrels.txt", f"{method}.run"), **EXACT)


def test_a_run_by_a_release_that_says_its_weights_scores_as_people_are_served(
    folder: Path, by_ir_measures: Score
) -> None:
    renamed = {"release": "served", "common.run": "served.run"}
    anonymize, search = ([renamed.get(word, word) for word in command[1:]] for command in SHELL[1:3])
    assert main([*anonymize, "--corpus", "docs.jsonl"]) == 0
    weight = search.index("--weight")
    assert main([*search[:weight], *search[weight + 2 :]]) == 0
    row = next(row for row in rows("results/results.csv") if row["method"] == "common")
    found = by_ir_measures("results/trec/qrels.txt", "served.run")
    assert float(row["ap10_served"]) == pytest.approx(found["ap10"], **EXACT)


def test_runs_without_a_release_score_as_plain_and_as_the_own_profile(
    folder: Path, by_ir_measures: Score, capsys: pytest.CaptureFixture[str]
) -> None:
    topics = ["search", "--corpus", "docs.jsonl", "--topics", "results/trec/topics.tsv", "--trec", "run"]
    assert main(topics) == 0
    assert row_of("plain") == pytest.approx(by_ir_measures("results/trec/qrels.txt", "run"), **EXACT)
    own = ["--log", "results/trec/profiles.tsv", "--people", "results/trec/people.tsv", "--weight", "1"]
    capsys.readouterr()
    assert main([*topics, *own, "--qrels", "results/trec/qrels.txt", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["topics"], told["results"]) == (70, 7000)
    assert told["ap10"] == row_of("original")["ap10"] == 1


def test_the_program_of_ir_measures_reads_both_files(folder: Path, by_ir_measures: Score) -> None:
    """Its means are over topics, and its AP@10 over all of the 30 relevant documents."""
    qrels, run, measures = SHELL[3][1:]
    judged, ranked = ir_measures.read_trec_qrels(qrels), ir_measures.read_trec_run(run)
    found = ir_measures.calc_aggregate(map(ir_measures.parse_measure, measures.split()), judged, ranked)
    ours = by_ir_measures(qrels, run)
    assert found[P @ 10] == pytest.approx(ours["p10"], abs=0.1)
    assert found[AP @ 10] == pytest.approx(ours["ap10"] / 3, abs=0.05)


def test_what_may_be_seen_names_nobody_and_the_rest_is_for_its_owner(folder: Path) -> None:
    secret = {"people.tsv", "profiles.tsv"}
    for path in Path("results/trec").iterdir():
        assert ("user-" in path.read_text()) == (path.name in secret)
        assert (stat.S_IMODE(path.stat().st_mode) == 0o600) == (path.name in secret)
    assert set(read_topics("results/trec/topics.tsv").values()) <= set(shoal.read_log("log.tsv").queries.to_list())
    lines = Path("results/trec/people.tsv").read_text().splitlines()[1:]
    number = {line.split("\t")[1]: line.split(".")[0] for line in lines}
    assert len(set(number.values())) == 24
    assert [number[user] for user in sorted(number)] != sorted(number.values())


def test_a_log_is_read_as_it_was_written(folder: Path, tmp_path: Path) -> None:
    log = shoal.read_log("log.tsv")
    assert len(shoal.read_log("results/trec/profiles.tsv")) == 24 * 7
    save_log(log, tmp_path / "same.tsv")
    assert shoal.read_log(tmp_path / "same.tsv").digest() == shoal.read_log(log.frame()).digest() == log.digest()
    timeless = shoal.read_log([("u1", "red, wine"), ("u2", '"beer"')])
    save_log(timeless, tmp_path / "timeless.tsv")
    assert shoal.read_log(tmp_path / "timeless.tsv").queries.to_list() == timeless.queries.to_list()


def test_an_earlier_evaluation_without_runs_is_measured_again_for_them(
    corpus_file: Path, log_file: Path, tmp_path: Path
) -> None:
    given = ["evaluate", "--corpus", str(corpus_file), "--log", str(log_file), "--methods", "plain", "--jobs", "1"]
    given += ["--measures", "ap10", "--out", str(tmp_path)]
    assert main(given) == 0
    assert not (tmp_path / "trec").exists()
    assert main([*given, "--seed", "0,1", "--trec"]) == 0
    assert (tmp_path / "trec" / "plain-seed=1.run").exists()


@examples(100)
@given(scores=st.lists(st.floats(0, 1), max_size=100))
def test_written_scores_fall_also_in_32_bits_and_are_those_that_fall_already(scores: list[float]) -> None:
    given = np.sort(np.array(scores))[::-1]
    written = falling(given).astype(np.float32)
    assert (np.diff(written) < 0).all()
    apart = bool((np.diff(np.round(given, 6)) <= -1e-6).all())
    assert not apart or np.allclose(written, given, atol=1e-6)


def test_topics_are_title_topics_or_lines(tmp_path: Path) -> None:
    titles = (
        "<top>\n<num> Number: 401\n<title> red\n wine\n<desc> of it\n</top>\n<top><num>402<title>Topic: beer\n</top>"
    )
    (tmp_path / "titles").write_text(titles)
    (tmp_path / "lines").write_text("401\tred wine\n\n402\tbeer\n")
    expected = {"401": "red wine", "402": "beer"}
    assert read_topics(tmp_path / "titles") == read_topics(tmp_path / "lines") == expected


@pytest.mark.parametrize(
    ("topics", "more", "told"),
    [
        ("", [], "nothing in"),
        ("1 wine", [], "line 1: expected topic<TAB>query"),
        ("1\twine\n1\tbeer", [], "topic 1 twice"),
        ("<top><num>1</top>", [], "topic 1 has no number or no title"),
        ("1\twine", ["--limit", "1000"], "--limit 1000"),
        ("1\twine", ["--qrels", "nowhere"], "nowhere cannot be read as TREC qrels"),
        ("1\twine", ["--people", "nowhere"], "--log or --release"),
        ("1\twine", ["wine"], "one of the two"),
    ],
)
def test_topics_that_cannot_be_searched_are_one_line(
    topics: str, more: list[str], told: str, corpus_file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "topics"
    path.write_text(topics)
    given = ["search", "--topics", str(path), "--corpus", str(corpus_file), "--trec", str(tmp_path / "run")]
    assert main([*given, *more]) == 2
    error = capsys.readouterr().err
    assert told in error
    assert error.count("\n") == 1
