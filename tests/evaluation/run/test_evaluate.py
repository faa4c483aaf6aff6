"""Does `shoal evaluate` leave the right files, whatever happens on the way?"""

import csv
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from textwrap import dedent

import pytest

from shoal.cli import main
from shoal.corpus.errors import Cancelled
from shoal.evaluation.experiment import make_experiment
from shoal.evaluation.measures.registry import columns
from shoal.evaluation.run.outcomes import begin
from shoal.evaluation.run.results import columns_in
from shoal.evaluation.run.summary import conduct
from tests.other_package import found_in, install

FINAL = ("results.csv", "results.json", "comparisons.csv", "people.npz", "provenance.json")
FEW = ("--measures", "ap10,linkage5")  # where it does not matter what is measured


def table(path: Path) -> dict[str, dict[str, str]]:
    with path.open() as file:
        return {f"{row['method']} {row['params']}".strip(): row for row in csv.DictReader(file)}


def arguments(corpus: Path, log: Path, out: Path, *more: str) -> list[str]:
    return ["evaluate", "--corpus", str(corpus), "--log", str(log), "--out", str(out), *more]


def test_the_controls_come_out_as_they_must(corpus_file: Path, log_file: Path, tmp_path: Path) -> None:
    methods = "plain;original;device;everyone;random:k=3;linkability:p=1,0.4"
    assert main(arguments(corpus_file, log_file, tmp_path, "--methods", methods, "--jobs", "1")) == 0
    rows = table(tmp_path / "results.csv")
    assert list(rows) == [
        "plain",
        "original",
        "device",
        "everyone",
        "random k=3",
        "linkability p=1",
        "linkability p=0.4",
    ]
    assert float(rows["original"]["ap10"]) == float(rows["original"]["kept"]) == 1
    assert float(rows["original"]["ap10_served"]) == float(rows["device"]["kept_served"]) == 1
    assert float(rows["plain"]["kept_served"]) == 0
    assert float(rows["plain"]["ap10_served"]) >= float(rows["everyone"]["ap10"])
    for name in ("ap10", "ap10_low", "kept", "p10", "ndcg10", "ap10_clicks"):
        assert rows["device"][name] == rows["original"][name]
    for name in ("linkage5", "linkage10", "inference5", "anonymity_min", "server5_5"):
        assert rows["device"][name] == rows["plain"][name]
    # No profile at all serves these cooks better than their average, so `kept` is counted from it.
    assert float(rows["plain"]["ap10"]) > float(rows["everyone"]["ap10"])
    assert float(rows["plain"]["kept"]) == 0 > float(rows["everyone"]["kept"])
    assert float(rows["plain"]["ap10"]) < 0.85
    assert float(rows["linkability p=1"]["ap10"]) > float(rows["random k=3"]["ap10"])
    assert float(rows["linkability p=1"]["ap10"]) > float(rows["linkability p=0.4"]["ap10"])
    for row in rows.values():
        for name in ("ap10", "kept", "ap10_served", "kept_served", "linkage5"):
            assert float(row[f"{name}_low"]) <= float(row[name]) <= float(row[f"{name}_high"])
        assert (row["users"], row["queries"]) == ("24", "70")
        assert "seconds" not in row
        assert row["ap10_clicks"]
        assert {*row} <= {"method", "params", *columns()}


def test_columns_stand_in_the_order_of_the_design() -> None:
    row = {"mrr": 1, "method": "m", "zeta": 1, "ap10": 1, "params": "", "linkage5": 0, "alone": 1, "ap10_clicks": 1}
    assert columns_in([row]) == ["method", "params", "ap10", "mrr", "linkage5", "ap10_clicks", "alone", "zeta"]


def test_what_was_asked_for_is_compared_with_controls_that_were_not(
    corpus_file: Path, log_file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    given = arguments(
        corpus_file, log_file, tmp_path, "--methods", "linkability", "--jobs", "1", "--json", "--timings", *FEW
    )
    assert main(given) == 0
    told = json.loads(capsys.readouterr().out)
    assert [row["method"] for row in told["rows"]] == ["linkability"]
    assert {row["method"] for row in told["besides"]} == {"plain", "everyone", "random", "original", "device"}
    assert ">random<" in (tmp_path / "precision-risk.svg").read_text()
    by_profile = [row for row in told["comparisons"] if row["truth"] == "profile"]
    assert [row["against"] for row in by_profile] == ["plain", "everyone", "original", "random at equal risk"]
    for row in by_profile:
        assert row["wins"] + row["ties"] + row["losses"] == 24
        if row["against"] == "original":  # whose ranking is the truth
            assert row["p"] is None
            assert row["p_holm"] is None
        else:
            assert row["p"] <= row["p_holm"] <= 1
    assert "seconds" in table(tmp_path / "results.csv")["linkability p=0.4"]


def test_a_file_and_options_declare_the_same_experiment(corpus_file: Path, log_file: Path, tmp_path: Path) -> None:
    config = tmp_path / "e.toml"
    config.write_text(
        f'corpus = "{corpus_file}"\nlog = "{log_file}"\nseeds = [3, 4]\nmeasures = ["ap10", "kept"]\n'
        "[methods.random]\nk = [2, 3]\n[methods.plain]\n"
    )
    by_options = ["--methods", "random:k=2,3;plain", "--seed", "3,4", "--measures", "ap10,kept", "--jobs", "1"]
    assert main(arguments(corpus_file, log_file, tmp_path / "a", *by_options)) == 0
    assert main(["evaluate", "--config", str(config), "--out", str(tmp_path / "b"), "--jobs", "1"]) == 0
    for name in FINAL:
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes()
    assert list(table(tmp_path / "a" / "results.csv")["plain"]) == ["method", "params", "ap10", "kept"]


def test_a_method_that_cannot_serve_this_log_is_blank_and_says_why(
    corpus_file: Path, log_file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    given = arguments(corpus_file, log_file, tmp_path, "--methods", "random:k=3,500", "--jobs", "1")
    assert main(given) == 1
    failed = table(tmp_path / "results.csv")["random k=500"]
    assert failed["failure"].startswith("random needs at least 500 users")
    assert {name for name, value in failed.items() if value} == {"method", "params", "failure"}
    assert "random k=500 gave nothing: random needs at least 500 users" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("more", "told"),
    [
        (["--methods", "nonsense"], "the methods are"),
        (["--methods", "random:k=1"], "k=1 is not allowed"),
        (["--risk", "luck<=1"], "no measure 'luck'"),
        (["--risk", "linkage5=0.1"], "is no bound"),
        (["--seed", "x"], "--seed x"),
        (["--seed", "-1"], "--seed -1"),
        (["--seed", ""], "--seed "),
        (["--seed", "0,-2"], "--seed -2"),
        (["--victims", "-3"], "--victims -3"),
        (["--victims", "0"], "--victims 0"),
        (["--victims", "many"], "--victims many"),
        (["--queries", "0"], "--queries 0"),
        (["--queries", "-1"], "--queries -1"),
        (["--queries", "1.5"], "--queries 1.5"),
        (["--methods", ""], "no method in ''"),
        (["--methods", ";"], "no method in ';'"),
        (["--measures", ""], "no measure ''"),
        (["--measures", "ap10,,kept"], "no measure ''"),
        (["--engine", ""], "unknown engine ''"),
        (["--risk", ""], "--risk '' is no bound"),
        (["--taxonomy", "nowhere.tsv"], "nowhere.tsv"),
        (["--directory", "nowhere.rdf"], "nowhere.rdf"),
        (["--corpus", ""], "no corpus ''"),
        (["--corpus", "nowhere.jsonl"], "no corpus 'nowhere.jsonl'"),
        (["--log", ""], "no log for the corpus"),
        (["--log", "nowhere.tsv"], "no log 'nowhere.tsv'"),
        (["--films"], "--films and --corpus do not go together"),
        (["--jobs", "-1"], "--jobs -1"),
        (["--config", "nowhere.toml"], "nowhere.toml cannot be read"),
    ],
)
def test_bad_input_is_one_line_and_leaves_nothing(
    more: list[str], told: str, corpus_file: Path, log_file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(arguments(corpus_file, log_file, tmp_path / "out", *more)) == 2
    error = capsys.readouterr().err
    assert told in error
    assert error.count("\n") == 1
    assert not (tmp_path / "out").exists()


def test_a_cancelled_run_stops(corpus_file: Path, log_file: Path, tmp_path: Path) -> None:
    experiment = make_experiment({"corpus": str(corpus_file), "log": str(log_file), "methods": "random;plain"})
    run = begin(experiment, tmp_path, jobs=2)

    def stop(done: int, total: int, stage: str) -> None:
        raise Cancelled("enough")

    with pytest.raises(Cancelled):
        conduct(run, stop)


@pytest.fixture
def guests(tmp_path: Path) -> Path:
    """Another package, found by its entry points: a slow method, one that breaks, and one that ends its process."""
    folder = tmp_path / "guests"
    install(
        folder,
        "guests",
        dedent("""
            import os
            import time
            from dataclasses import replace
            from shoal.anonymizer.methods.random import Random

            class Slow(Random):
                info = replace(Random.info, id="slow", paper="A guest (2026), Taking time")

                def anonymize(self, data, *, seed=0, progress=print):
                    time.sleep(float(os.environ["SLOW"]))
                    return super().anonymize(data, seed=seed, progress=progress)

            class Broken(Random):
                info = replace(Random.info, id="broken", paper="A guest (2026), Falling over")

                def anonymize(self, data, *, seed=0, progress=print):
                    raise ZeroDivisionError("oh")

            class Fatal(Random):
                info = replace(Random.info, id="fatal", paper="A guest (2026), Taking all down")

                def anonymize(self, data, *, seed=0, progress=print):
                    os._exit(139)
        """),
        "[shoal.anonymizers]\nslow = guests:Slow\nbroken = guests:Broken\nfatal = guests:Fatal\n",
    )
    return folder


def start(arguments: list[str], guests: Path, hash_seed: str, slow: str = "0") -> subprocess.Popen[bytes]:
    environment = {**os.environ, "PYTHONPATH": str(guests), "PYTHONHASHSEED": hash_seed, "SLOW": slow}
    return subprocess.Popen([sys.executable, "-m", "shoal", *arguments], env=environment, stderr=subprocess.PIPE)


@pytest.fixture
def guests_here(guests: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The same package, found by this process too."""
    monkeypatch.setenv("SLOW", "0")
    with found_in(guests, "guests"):
        yield guests


def test_a_run_that_is_killed_goes_on_and_ends_with_the_same_files(
    corpus_file: Path, log_file: Path, tmp_path: Path, guests_here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Whatever the hash seed, and however many processes work."""
    settings = ["--methods", "slow:k=2,3,4;broken:k=3", "--seed", "1", *FEW]
    told = "broken k=3 gave nothing: ZeroDivisionError: oh"
    assert main(arguments(corpus_file, log_file, tmp_path / "whole", *settings, "--jobs", "1")) == 1
    assert told in capsys.readouterr().err
    again = arguments(corpus_file, log_file, tmp_path / "killed", *settings)
    killed = start([*again, "--jobs", "1"], guests_here, "2", slow="2")
    cells = tmp_path / "killed" / "cells"
    deadline = time.monotonic() + 200
    while not list(cells.glob("slow-*.npz")) and time.monotonic() < deadline:
        time.sleep(0.05)
    killed.kill()
    killed.communicate()
    finished = {path: path.stat().st_mtime_ns for path in cells.glob("slow-*.npz")}
    assert 1 <= len(finished) < 3
    resumed = start([*again, "--jobs", "2"], guests_here, "3")
    assert told in resumed.communicate(timeout=200)[1].decode()
    assert resumed.returncode == 1
    assert {path: path.stat().st_mtime_ns for path in finished} == finished
    for name in FINAL:
        assert (tmp_path / "whole" / name).read_bytes() == (tmp_path / "killed" / name).read_bytes()
    assert "slow k=2" in table(tmp_path / "whole" / "results.csv")


def test_ctrl_c_ends_all_processes_at_once_and_says_one_word(
    corpus_file: Path, log_file: Path, tmp_path: Path, guests: Path
) -> None:
    """The terminal interrupts the whole group; a method that listens to nothing must not hold it up."""
    given = arguments(corpus_file, log_file, tmp_path / "out", "--methods", "plain;slow:k=2,3,4", "--jobs", "2", *FEW)
    environment = {**os.environ, "PYTHONPATH": str(guests), "SLOW": "300"}
    process = subprocess.Popen(
        [sys.executable, "-m", "shoal", *given], env=environment, stderr=subprocess.PIPE, start_new_session=True
    )
    deadline = time.monotonic() + 200
    while not list((tmp_path / "out" / "cells").glob("plain-*.npz")) and time.monotonic() < deadline:
        time.sleep(0.05)
    time.sleep(0.5)
    os.killpg(process.pid, signal.SIGINT)
    # All who hold the pipe have ended then: within 3 seconds, if nothing else uses the machine, and not in 300.
    told = process.communicate(timeout=90)[1].decode()
    assert process.returncode == 130
    assert told.strip().splitlines()[-1] == "shoal: stopped"
    assert "Traceback" not in told


def test_a_method_that_ends_its_process_takes_no_other_with_it(
    corpus_file: Path, log_file: Path, tmp_path: Path, guests_here: Path
) -> None:
    given = {"corpus": str(corpus_file), "log": str(log_file), "methods": "fatal;plain", "measures": "ap10"}
    experiment = make_experiment(given)
    died, plain = begin(experiment, tmp_path / "out", jobs=2).measure(experiment.settings)
    assert died.failure.startswith("its process died")
    assert plain.ap10 > 0
