"""Does `shoal compare` tell what changed from what is noise, and do results say where they come from?"""

import json
import re
import shlex
import tomllib
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import shoal
from shoal.anonymizer.manifest import file_digest
from shoal.cli import main, make_parser
from shoal.evaluation.experiment.settings import parse_methods
from shoal.evaluation.run.changes import changes
from shoal.evaluation.run.results import Results, methods_text, read_results, write_results

METHODS = "plain;original;everyone;random:k=2,3;linkability:p=1,0.4"


@pytest.fixture(scope="module")
def folder(corpus_file: Path, log_file: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("before")
    given = ["evaluate", "--corpus", str(corpus_file), "--log", str(log_file), "--out", str(out), "--jobs", "1"]
    assert main([*given, "--methods", METHODS, "--seed", "3,4"]) == 0
    return out


@pytest.fixture(scope="module")
def results(folder: Path) -> Results:
    return read_results(folder)


def clear(before: Results, after: Results) -> set[tuple[str, str]]:
    return {(row["setting"], row["measure"]) for row in changes(before, after).settings if row["is_more_than_noise"]}


def moved(results: Results, setting: str, by: float, noise: float = 0.0) -> Results:
    """The same evaluation, in which one setting serves people otherwise."""
    people = {name: values.copy() for name, values in results.people.items()}
    row = results.people["settings"].tolist().index(setting)
    people["ap10"][row] += by + np.random.default_rng(1).normal(0, noise, people["ap10"].shape[1])
    rows = [dict(one) for one in results.rows]
    rows[row]["ap10"] = float(people["ap10"][row].mean())
    return replace(results, rows=rows, people=people)


def test_an_evaluation_is_like_itself(results: Results) -> None:
    found = changes(results, results)
    assert found.setup == found.only_before == found.only_after == []
    assert {row["difference"] for row in found.settings} == {0}
    assert not any(row["is_more_than_noise"] for row in found.settings)
    assert {row["measure"] for row in found.settings} == {"ap10", "linkage5"}
    assert all(row["agree"] for row in found.answers)


def test_what_everybody_gained_is_a_change_and_what_went_up_and_down_is_noise(results: Results) -> None:
    assert clear(results, moved(results, "random k=3", 0.05, noise=0.02)) == {("random k=3", "ap10")}
    assert clear(results, moved(results, "random k=3", 0.0, noise=0.2)) == set()


def test_people_are_found_again_whatever_their_order(results: Results) -> None:
    turned = {
        name: values[..., ::-1] if name in ("users", "ap10", "victims", "linkage5") else values
        for name, values in results.people.items()
    }
    found = changes(results, replace(results, people=turned)).settings
    assert {row["difference"] for row in found} == {0}
    assert {row["people"] for row in found if row["measure"] == "ap10"} == {24}


def test_without_what_each_person_got_only_a_difference_beyond_both_intervals_counts(results: Results) -> None:
    before = replace(results, people={})
    assert clear(before, moved(results, "random k=3", 0.02)) == set()
    assert clear(before, moved(results, "random k=3", 5.0)) == {("random k=3", "ap10")}


def test_what_was_declared_otherwise_is_named(results: Results) -> None:
    digests = results.provenance["digests"] | {"log": "0" * 64}
    other = replace(
        results,
        rows=results.rows[:-1],
        experiment=results.experiment | {"victims": 7},
        provenance=results.provenance | {"digests": digests},
    )
    found = changes(results, other)
    assert [row["what"] for row in found.setup] == ["victims", "digest of log"]
    assert (found.only_before, found.only_after) == (["linkability p=0.4"], [])


def test_the_command_tells_what_changed(folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_results(tmp_path, moved(read_results(folder), "random k=3", 0.1))
    assert main(["compare", str(folder), str(tmp_path)]) == 0
    told = capsys.readouterr().out
    assert "Both were declared alike" in told
    assert "AP@10: of 7 settings in both, 1 have more and 0 less than before" in told
    assert main(["compare", str(folder), str(tmp_path), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["only_after"] == []
    assert main(["compare", str(folder), str(tmp_path / "nothing")]) == 2
    assert "holds no results" in capsys.readouterr().err


def test_every_output_says_where_it_comes_from(folder: Path, results: Results) -> None:
    made = results.provenance
    assert {*made} == {"version", "command", "seeds", "digests"}
    assert {"log", "corpus", "taxonomy", "dictionary", "wordnet", "code"} <= {*made["digests"]}
    beside = json.loads((folder / "provenance.json").read_text())
    assert beside["files"]["results.csv"] == file_digest(folder / "results.csv")
    assert beside["digests"] == made["digests"]
    for name in ("report.html", "report.md", "table.tex"):
        text = (folder / name).read_text()
        assert made["version"] in text
        assert made["digests"]["log"][:12] in text
        assert "--seed 3,4" in text
    assert "@software{shoal," in (folder / "report.html").read_text()


def test_nobody_is_named_in_what_is_kept_of_people(folder: Path, results: Results) -> None:
    kept = (folder / "people.npz").read_bytes() + (folder / "results.json").read_bytes()
    assert b"user-" not in kept
    assert len(set(results.people["users"])) == 24


def test_the_command_that_is_told_declares_the_same_settings(results: Results) -> None:
    options = make_parser().parse_args(shlex.split(results.provenance["command"])[1:])
    assert (options.command, options.seeds, options.victims) == ("evaluate", "3,4", 1000)
    assert [str(setting) for setting in parse_methods(options.methods)] == results.experiment["settings"]


@pytest.mark.parametrize("text", [METHODS, "clump:k=5,10:r=3,4;plain", "clump:k=7;random:k=2;clump:k=3"])
def test_settings_are_written_as_they_are_read(text: str) -> None:
    settings = parse_methods(text)
    assert parse_methods(methods_text(settings)) == settings


def test_the_citation_is_of_this_version() -> None:
    root = Path(shoal.__file__).parents[1]
    declared = tomllib.loads((root / "pyproject.toml").read_text())["project"]
    cited = dict(re.findall(r"^([a-z-]+): \"?([^\"\n]+)", (root / "CITATION.cff").read_text(), re.MULTILINE))
    assert (cited["version"], cited["license"], cited["cff-version"]) == (
        declared["version"], declared["license"], "1.2.0",
    )  # fmt: skip
