"""Is every measure declared once, and does a new one show up everywhere without another line?"""

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from shoal.cli import main
from shoal.cli.measures import measures_page
from shoal.corpus.errors import InputError
from shoal.evaluation.measures.base import HEADINGS, ReleaseMeasure
from shoal.evaluation.measures.registry import collect, columns, columns_named, describe, find_measure, measures
from shoal.webapp.operator.runs import shown_measures
from tests.other_package import example, found_in, install

ROOT = Path(__file__).parents[3]
PLAIN = ReleaseMeasure(
    name="plain",
    title="Plain",
    says="Nothing.",
    formula="0",
    heading="utility",
    better="neither",
    compute=lambda m: 0.0,
)


@pytest.fixture
def longest(tmp_path: Path) -> Iterator[None]:
    """The example of CONTRIBUTING.md as a package of its own."""
    install(tmp_path, "toy_measure", example("ReleaseMeasure"), "[shoal.measures]\nlongest = toy_measure:longest\n")
    with found_in(tmp_path, "toy_measure"):
        yield


def test_every_measure_says_what_it_is() -> None:
    for measure in measures().values():
        told = describe(measure)
        assert measure.heading in HEADINGS
        assert all(told[name] for name in ("title", "says", "formula", "range", "columns"))
        assert "{" not in json.dumps([told[name] for name in ("title", "says", "formula")])
        assert str(told["says"]).endswith(".")


def test_columns_of_a_family_tell_their_number() -> None:
    five = columns()["linkage5"]
    assert (five.title, five.short) == ("Found by 5 terms", "linkage@5")
    assert "5 of their terms" in five.says
    assert find_measure("linkage5") is find_measure("linkage")
    assert columns_named(["srp", "ap10"]) == ["srp1", "srp2", "srp3", "srp4", "srp5", "ap10"]


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        ({"name": "two words"}, "a name is letters"),
        ({"heading": "beauty"}, "has heading 'beauty'"),
        ({"better": "more"}, "better 'more'"),
        ({"says": " "}, "has no says"),
        ({"name": "ap10"}, "two measures have the column 'ap10'"),
        ({"name": "linkage", "at": (3, 4)}, "two measures have the column 'linkage3'"),
    ],
)
def test_a_wrong_declaration_is_refused_by_name(wrong: dict[str, Any], told: str) -> None:
    with pytest.raises(InputError, match=told):
        collect([*measures().values(), replace(PLAIN, **wrong)])


def test_what_is_no_measure_is_refused() -> None:
    with pytest.raises(InputError, match="is no measure"):
        collect([lambda release: 1.0])  # type: ignore[list-item]


def test_a_measure_that_is_not_there_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["measures", "luck"]) == 2
    assert "no measure 'luck'" in capsys.readouterr().err


def test_a_new_measure_shows_up_everywhere(
    longest: None, corpus_file: Path, log_file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["measures", "longest"]) == 0
    assert "largest sum of a published profile's weights" in capsys.readouterr().out
    out = tmp_path / "out"
    given = ["--corpus", str(corpus_file), "--log", str(log_file), "--out", str(out), "--jobs", "1"]
    assert main(["evaluate", *given, "--methods", "random:k=3;everyone"]) == 0
    assert "longest" in (out / "results.csv").read_text().splitlines()[0].split(",")
    for word in ("longest", "How many items the longest published profile has."):
        assert word in (out / "report.html").read_text()
    assert main(["anonymize", "--log", str(log_file), "--method", "everyone", "--out", str(tmp_path / "release")]) == 0
    capsys.readouterr()
    assert main(["measure", str(tmp_path / "release"), "--log", str(log_file), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["longest"] > 0
    assert shown_measures()["longest"].title == "Longest profile"
    assert "largest sum of a published profile's weights" in measures_page(list(measures().values()))


def test_the_documents_hold_every_measure() -> None:
    assert (ROOT / "docs" / "measures.md").read_text() == measures_page(list(measures().values()))
