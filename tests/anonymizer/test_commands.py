"""Do the commands make, check and refuse releases as they say?"""

import json
import resource
import subprocess
import sys
from pathlib import Path

import pytest

from shoal.anonymizer.base import Claim
from shoal.anonymizer.claims import sentence
from shoal.cli import main

LOG = "AnonID\tQuery\tQueryTime\tItemRank\tClickURL\n" + "".join(
    f"{user}\t{query}\t2006-03-01 10:0{i}:00\t\t\n"
    for user in range(100, 112)
    for i, query in enumerate(("red wine", "dog food", f"{('piano', 'cancer', 'weather')[user % 3]}"))
)


@pytest.fixture
def log(tmp_path: Path) -> Path:
    path = tmp_path / "log.tsv"
    path.write_text(LOG)
    return path


def released(log: Path, *settings: str, method: str = "random") -> Path:
    folder = log.parent / method
    flags = [flag for setting in settings for flag in ("--set", setting)]
    assert main(["anonymize", "--log", str(log), "--method", method, *flags, "--out", str(folder)]) == 0
    return folder


def edit_manifest(folder: Path, **changes: object) -> None:
    path = folder / "manifest.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), **changes}))


def test_a_release_is_accepted_and_one_with_a_moved_member_is_not(
    log: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = released(log, "k=3")
    assert main(["verify", str(folder), "--log", str(log)]) == 0
    lines = (folder / "assignment.tsv").read_text().splitlines()
    user, pseudonym = lines[1].split("\t")
    other = next(line.split("\t")[1] for line in lines[2:] if line.split("\t")[1] != pseudonym)
    (folder / "assignment.tsv").write_text("\n".join([lines[0], f"{user}\t{other}", *lines[2:]]) + "\n")
    assert main(["verify", str(folder), "--log", str(log)]) == 1
    assert "counterexample" in capsys.readouterr().out


def test_a_claim_weaker_than_the_settings_is_not_accepted(log: Path) -> None:
    folder = released(log, "k=3")
    claim = json.loads((folder / "manifest.json").read_text())["claim"]
    edit_manifest(folder, claim={**claim, "values": {"k": 2}})
    assert main(["verify", str(folder), "--log", str(log)]) == 2


def test_another_log_is_bad_input(log: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = released(log, "k=3")
    log.write_text(LOG.replace("10:00:00", "11:00:00"))
    assert main(["verify", str(folder), "--log", str(log)]) == 2
    assert "this is another log" in capsys.readouterr().err


def test_only_the_sentence_of_the_verifier_is_printed(log: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = released(log, "k=3")
    capsys.readouterr()
    assert main(["verify", str(folder), "--log", str(log)]) == 0
    said = sentence(Claim("users-per-profile", {"k": 3}))
    assert capsys.readouterr().out == f"holds: {said}\n"
    assert main(["verify", str(folder), "--log", str(log), "--json", "--reproduce"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told.pop("sentence") == said
    assert told == {"claim": "users-per-profile", "holds": True, "counterexample": "", "reproduced": True}


def test_a_release_is_made_again_byte_by_byte(log: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = released(log, "k=3")
    assert main(["verify", str(folder), "--log", str(log), "--reproduce"]) == 0
    assert "byte by byte" in capsys.readouterr().out
    edit_manifest(folder, seed=9)
    assert main(["verify", str(folder), "--log", str(log), "--reproduce"]) == 1
    assert "is another when the method runs again" in capsys.readouterr().out


@pytest.mark.parametrize("seed", ["-1", "1.5", "x", "9" * 30])
def test_a_seed_is_a_whole_number(log: Path, seed: str) -> None:
    with pytest.raises(SystemExit) as end:
        main(["anonymize", "--log", str(log), "--method", "random", "--seed", seed, "--out", str(log.parent / "out")])
    assert end.value.code == 2


def test_rows_that_cannot_be_read_are_not_put_into_the_release(log: Path) -> None:
    log.write_text(LOG + "only\tthree\tfields\n")
    folder = released(log, "k=3")
    assert (log.parent / "random-rejected.tsv").exists()
    assert sorted(path.name for path in folder.iterdir()) == ["assignment.tsv", "manifest.json", "profiles.jsonl"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--method", "magic"], "the methods are"),
        (["--method", "random", "--set", "q=1"], "its parameters are k"),
        (["--method", "random", "--set", "k=1"], "from 2"),
        (["--method", "random", "--set", "k"], "NAME=VALUE"),
        (["--method", "random", "--set", "k=50"], "needs at least 50 users"),
        (["--method", "clump", "--taxonomy", "nowhere.tsv"], "no taxonomy can be read"),
    ],
)
def test_bad_settings_are_one_line_with_code_2_and_leave_nothing(
    log: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], message: str
) -> None:
    out = log.parent / "out"
    assert main(["anonymize", "--log", str(log), *arguments, "--out", str(out)]) == 2
    error = capsys.readouterr().err.strip()
    assert message in error
    assert len(error.splitlines()) == 1
    assert not out.exists()


def test_a_folder_that_is_no_release_is_not_overwritten(log: Path) -> None:
    folder = log.parent / "precious"
    folder.mkdir()
    (folder / "thesis.txt").write_text("years of work")
    assert main(["anonymize", "--log", str(log), "--method", "everyone", "--out", str(folder)]) == 2
    assert (folder / "thesis.txt").read_text() == "years of work"


def test_methods_are_told_to_people_and_machines(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["methods", "random"]) == 0
    assert "higher is more private" in " ".join(capsys.readouterr().out.split())
    assert main(["methods", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert {"plain", "original", "everyone", "random"} <= {method["id"] for method in told}
    assert all(method["protects"] and method["does_not_protect"] for method in told)


def test_on_a_full_disk_there_is_a_message_and_no_half_of_a_release(log: Path) -> None:
    """No file may grow: what a full disk says, without filling one."""
    before = sorted(log.parent.iterdir())
    command = ["anonymize", "--log", str(log), "--method", "random", "--out", str(log.parent / "release")]
    ended = subprocess.run(
        [sys.executable, "-B", "-m", "shoal", *command], capture_output=True, text=True, timeout=240,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0)),
    )  # fmt: skip
    assert ended.returncode == 2
    assert "free space" in ended.stderr
    assert "Traceback" not in ended.stderr
    assert sorted(log.parent.iterdir()) == before


def test_of_a_method_of_query_time_it_is_said_that_its_risk_is_not_in_the_folder(
    log: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = released(log, "k=3", method="murmur")
    assert (folder / "profiles.jsonl").read_text() == ""
    assert (folder / "catalogue.tsv").read_text().startswith("term\tusers\tmean\n")
    assert main(["verify", str(folder), "--log", str(log)]) == 0
    capsys.readouterr()
    assert main(["measure", str(folder), "--log", str(log), "--measures", "linkage5", "--json"]) == 0
    told = capsys.readouterr()
    assert "what its words tell is measured by `shoal evaluate`" in told.err
    assert set(json.loads(told.out)) == {"linkage5", "linkage5_low", "linkage5_high"}
