"""Does the target mode find the setting that meets a risk and keeps most precision?"""

from pathlib import Path

import pytest

from shoal.cli import main
from shoal.corpus.errors import InputError
from shoal.evaluation.experiment import make_experiment
from shoal.evaluation.run.outcomes import begin
from shoal.evaluation.run.target import Risk, parse_risk, seek


@pytest.mark.parametrize("text", ["linkage5<=0.05", " linkage5 <= 5e-2 "])
def test_a_bound_is_read(text: str) -> None:
    assert parse_risk(text) == Risk("linkage5", "<=", 0.05)


@pytest.mark.parametrize("text", ["linkage5", "linkage5<=", "linkage5<=x", "0.05>=linkage5", "linkage5<=1-2"])
def test_what_is_no_bound_is_refused(text: str) -> None:
    with pytest.raises(InputError, match="is no bound"):
        parse_risk(text)


def test_settings_between_the_levels_are_tried_until_one_number_is_left(
    corpus_file: Path, log_file: Path, tmp_path: Path
) -> None:
    given = {"corpus": str(corpus_file), "log": str(log_file), "methods": "original;random:k=2,12;plain"}
    run = begin(make_experiment(given), tmp_path, jobs=1)
    found = seek(run, Risk("anonymity_median", ">=", 5))
    best = {row["method"]: row for row in found.target}
    assert best["random"]["params"] == "k=5"
    assert best["original"]["meets"] == "no setting has anonymity_median>=5"
    tried = [row["params"] for row in found.rows if row["method"] == "random"]
    assert tried == sorted(tried, key=lambda params: int(params[2:]))
    assert "k=4" in tried


def test_the_command_prints_and_writes_what_it_found(
    corpus_file: Path, log_file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    given = ["--corpus", str(corpus_file), "--log", str(log_file), "--out", str(tmp_path), "--jobs", "1"]
    assert main(["evaluate", *given, "--methods", "random:k=2;everyone", "--risk", "linkage5<=0.1"]) == 0
    assert "no setting has linkage5<=0.1" in capsys.readouterr().out
    assert (tmp_path / "target.csv").read_text().startswith("method,params,meets,")
