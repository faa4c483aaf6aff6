"""Does a release at a storage hold what is public, whole or not at all, and is what is secret on this machine alone?"""

import stat
from collections.abc import Callable
from pathlib import Path
from shutil import copy
from typing import Any

import pytest

from shoal.anonymizer.contract.sample_logs import sample_log
from shoal.cli import main
from shoal.corpus.logs.aol import save_log
from tests.cluster.spark.standalone import StandaloneCluster

SECRET = {"assignment.tsv", "key.txt"}


@pytest.fixture
def shoal(cluster: StandaloneCluster, spark: Any, tmp_path: Path) -> Callable[..., int]:
    """The command, with the log and the cluster."""
    save_log(sample_log(60), tmp_path / "log.tsv")
    given = ["--log", str(tmp_path / "log.tsv"), "--cluster", cluster.url]
    return lambda name, *options: main([name, *options, *given])


def test_public_files_lie_at_the_storage_and_secrets_here(
    shoal: Callable[..., int], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    place, secrets, here = tmp_path / "storage/release", tmp_path / "ours", tmp_path / "here"
    made = ["--method", "token-hashing", "--block", "20"]
    assert shoal("anonymize", *made, "--out", place.as_uri(), "--secrets", str(secrets)) == 0
    answer = capsys.readouterr()
    assert f"who has which profile stands in {secrets}" in answer.err
    assert f"shoal verify {place.as_uri()} --log {tmp_path / 'log.tsv'} --cluster " in answer.out
    assert main(["anonymize", *made, "--out", str(here), "--log", str(tmp_path / "log.tsv")]) == 0
    assert {path.name for path in place.iterdir()} == {path.name for path in here.iterdir()} - SECRET
    assert {path.name for path in secrets.iterdir()} == SECRET
    assert stat.S_IMODE(secrets.stat().st_mode) == 0o700
    assert {stat.S_IMODE(path.stat().st_mode) for path in secrets.iterdir()} == {0o600}
    assert shoal("verify", place.as_uri(), "--secrets", str(secrets)) == 0
    assert sorted(path.name for path in place.parent.iterdir()) == ["release"]


def test_what_is_there_is_replaced_by_force_alone(
    shoal: Callable[..., int], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    place = tmp_path / "storage/may"
    made = ["--method", "clump", "--block", "20", "--out", place.as_uri()]
    assert shoal("anonymize", *made) == 0
    before = {path.name: path.read_bytes() for path in (*place.iterdir(), *Path("may-secret").iterdir())}
    assert shoal("anonymize", *made) == 2
    assert shoal("anonymize", *made, "--secrets", "others") == 2
    assert f"{place.as_uri()} holds a release already" in capsys.readouterr().err
    assert shoal("anonymize", *made, "--set", "k=10", "--force") == 0
    after = {path.name: path.read_bytes() for path in (*place.iterdir(), *Path("may-secret").iterdir())}
    assert before.keys() == after.keys()
    assert before["assignment.tsv"] != after["assignment.tsv"]
    assert shoal("verify", place.as_uri()) == 0
    (place / "manifest.json").unlink()
    assert shoal("anonymize", *made, "--force") == 2
    assert "is no release" in capsys.readouterr().err


def test_what_no_block_shows_is_to_be_checked_in_a_folder(
    shoal: Callable[..., int], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    place, secrets, folder = tmp_path / "storage/release", tmp_path / "ours", tmp_path / "FOLDER"
    given = ["--method", "equality", "--block", "20", "--out", place.as_uri(), "--secrets", str(secrets)]
    assert shoal("anonymize", *given) == 0
    _, command, _ = capsys.readouterr().out.split("`")
    assert command == f"shoal verify FOLDER --log {tmp_path / 'log.tsv'}"
    folder.mkdir()
    for file in (*place.iterdir(), *secrets.iterdir()):
        copy(file, folder)
    assert main(["verify", str(folder), "--log", str(tmp_path / "log.tsv")]) == 0


def test_a_release_that_is_not_whole_there_is_told(
    shoal: Callable[..., int], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    place = (tmp_path / "nothing").as_uri()
    assert shoal("verify", place, "--secrets", str(tmp_path)) == 2
    assert "no assignment.tsv of the release" in capsys.readouterr().err
    (tmp_path / "assignment.tsv").write_text("user\tid\n")
    assert shoal("verify", place, "--secrets", str(tmp_path)) == 2
    assert f"no release at {place}" in capsys.readouterr().err
    assert shoal("verify", "nowhere://host/release", "--secrets", str(tmp_path)) == 2
    assert 'No FileSystem for scheme "nowhere"' in capsys.readouterr().err.splitlines()[-1]
