"""Does a method of one file show up everywhere without another line: commands, panel, API, report, documents?"""

from collections.abc import Iterator
from pathlib import Path

import pytest

from shoal.cli import main
from shoal.cli.methods import methods_page, told_methods
from tests.other_package import example, found_in, install
from tests.webapp.instances import Panel


@pytest.fixture
def pairs(tmp_path: Path) -> Iterator[None]:
    """The example of CONTRIBUTING.md as a package of its own."""
    install(tmp_path, "toy_method", example("class Pairs"), "[shoal.anonymizers]\npairs = toy_method:Pairs\n")
    with found_in(tmp_path, "toy_method"):
        yield


def test_it_is_told_of_on_the_command_line_and_in_the_documents(
    pairs: None, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["methods", "pairs"]) == 0
    told = capsys.readouterr().out
    page = methods_page(told_methods())
    for words in ("Pairs of users", "Anything that both users of a pair did.", "which profiles are paired first"):
        assert words in told
        assert words in page


def test_it_makes_a_release_that_holds(pairs: None, small_log: Path, tmp_path: Path) -> None:
    out = str(tmp_path / "release")
    given = ["--log", str(small_log), "--method", "pairs", "--set", "first=large", "--out", out]
    assert main(["anonymize", *given]) == 0
    assert main(["verify", out, "--log", str(small_log)]) == 0


def test_it_is_in_the_panel_and_the_api(pairs: None, quiet_panel: Panel) -> None:
    assert "Pairs of users" in quiet_panel.client.get("/admin/methods").text
    form = quiet_panel.client.get("/admin/methods/pairs").text
    assert 'name="first"' in form
    assert "which profiles are paired first" in form
    listed = quiet_panel.client.get("/api/v1/methods").json["methods"]
    assert [one["parameters"][0]["name"] for one in listed if one["id"] == "pairs"] == ["first"]
    assert quiet_panel.run("pairs", first="large")


def test_it_is_in_the_report(pairs: None, small_log: Path, tmp_path: Path) -> None:
    out = tmp_path / "results"
    given = ["--log", str(small_log), "--corpus", "news", "--queries", "1", "--victims", "20", "--jobs", "1"]
    assert main(["evaluate", *given, "--methods", "pairs:first=small,large", "--out", str(out)]) == 0
    report = (out / "report.html").read_text()
    assert "pairs" in report
    assert "first=large" in report
