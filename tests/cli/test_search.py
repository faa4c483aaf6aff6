"""Does `shoal search` show results and reasons, and answer whatever is typed?"""

import json
from pathlib import Path

import ir_measures
import pytest

from shoal.cli import main


def search(query: str, corpus: Path, *more: str) -> int:
    return main(["search", query, "--corpus", str(corpus), *more])


def test_titles_snippets_and_reasons_are_shown(corpus_file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert search("kitchen dinner", corpus_file, "--explain", "--limit", "3") == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split(".")[0].strip() for line in lines if line[:4].strip().rstrip(".").isdigit()] == ["1", "2", "3"]
    assert "engine 1.0000 = " in "".join(lines)


def test_the_parts_of_a_score_sum_to_it(corpus_file: Path, log_file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert search("kitchen dinner", corpus_file, "--log", str(log_file), "--user", "user-1", "--json") == 0
    found = json.loads(capsys.readouterr().out)
    assert found["profile"] == "the own profile of user user-1"
    for result in found["results"]:
        parts = sum(part for _, part in [*result["engine"], *result["profile"]])
        assert parts == pytest.approx(result["score"], abs=1e-6)
    assert found["results"][0]["title"].startswith("bread")
    assert {term for term, _ in found["results"][0]["profile"]} & {"bread", "flour", "oven", "yeast", "dough"}


def test_a_release_serves_its_members_and_those_it_left_out(
    corpus_file: Path, log_file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for method, whose in (("everyone", "the profile that everyone publishes"), ("plain", "no profile")):
        release = tmp_path / method
        assert main(["anonymize", "--log", str(log_file), "--method", method, "--out", str(release)]) == 0
        capsys.readouterr()
        given = ["--release", str(release), "--log", str(log_file), "--user", "user-1", "--json"]
        assert search("kitchen", corpus_file, *given) == 0
        assert json.loads(capsys.readouterr().out)["profile"] == whose


@pytest.mark.parametrize("query", ["the", '"kitchen', "title:", "k" * 10_000, "kitchen\x00\x1b[31m", "日本", "kitchin"])
def test_whatever_is_typed_is_answered(query: str, corpus_file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert search(query, corpus_file) == 0
    out = capsys.readouterr().out
    assert out
    assert "\x1b" not in out


@pytest.mark.parametrize(
    ("query", "more", "told"),
    [
        ("", [], "nothing to search for"),
        ("\x01 ...", [], "nothing to search for"),
        ("wine", ["--user", "user-1"], "--log or --release"),
        ("wine", ["--log", "LOG"], "need --user"),
        ("wine", ["--log", "LOG", "--user", "usr-1"], "for example user-1"),
        ("wine", ["--weight", "2"], "--weight 2.0"),
        ("wine", ["--limit", "0"], "--limit 0"),
        ("wine", ["--engine", "lucene"], "unknown engine"),
        ("wine", ["--release", "nowhere", "--user", "x"], "no release at nowhere"),
    ],
)
def test_what_cannot_be_searched_is_one_line(
    query: str, more: list[str], told: str, corpus_file: Path, log_file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert search(query, corpus_file, *[str(log_file) if word == "LOG" else word for word in more]) == 2
    error = capsys.readouterr().err
    assert told in error
    assert error.count("\n") == 1


def test_a_trec_run_holds_the_results_in_their_order(
    corpus_file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert search("kitchen dinner", corpus_file, "--limit", "20", "--trec", str(tmp_path / "run"), "--json") == 0
    shown = json.loads(capsys.readouterr().out)["results"]
    lines = list(ir_measures.read_trec_run(str(tmp_path / "run")))
    assert [(line.query_id, line.doc_id) for line in lines] == [("1", result["id"]) for result in shown]
    assert [line.score for line in lines] == pytest.approx([result["score"] for result in shown])
