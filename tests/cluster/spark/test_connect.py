"""Does Spark Connect make the release of one machine? In a process of its own, which has no other session of Spark."""

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from shoal.anonymizer.contract.sample_logs import sample_log
from shoal.cli import main
from shoal.corpus.logs.aol import save_log
from tests.cluster.spark.standalone import ConnectServer

# Several commands in one process, since it is starting that takes long: each with its code and what it said. All that
# bars are told is told: they are drawn of what takes longer than a second, which on a quick machine nothing does.
_COMMANDS = """
import contextlib, io, json, sys
from shoal.cli import main
from shoal.corpus.progress import Bar
Bar.__call__ = lambda self, done, total, stage: print(f"{stage} {done}/{total}", file=sys.stderr)
for command in json.loads(sys.argv[1]):
    with contextlib.redirect_stdout(io.StringIO()) as out, contextlib.redirect_stderr(io.StringIO()) as told:
        code = main(command)
    print(json.dumps([code, out.getvalue(), told.getvalue()]))
"""


class Answer(NamedTuple):
    code: int
    said: str
    told: str


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ConnectServer]:
    started = ConnectServer(tmp_path_factory.mktemp("connect"))
    try:
        yield started
    finally:
        started.stop()


def answers(*commands: list[str]) -> list[Answer]:
    program = [sys.executable, "-P", "-c", _COMMANDS, json.dumps(commands)]
    done = subprocess.run(program, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr[-2000:]
    return [Answer(*json.loads(line)) for line in done.stdout.splitlines()]


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_spark_connect_makes_and_verifies_the_files_of_one_machine(server: ConnectServer, tmp_path: Path) -> None:
    log, ids = tmp_path / "log.tsv", ("clump", "equality")
    save_log(sample_log(60), log)
    there = ["--log", str(log), "--cluster", server.address]
    made = [
        ["anonymize", "--method", id, "--block", "20", "--out", str(tmp_path / f"{id}-there"), *there] for id in ids
    ]
    refused = ["anonymize", "--method", "random", "--block", "4", "--set", "k=9", "--out", str(tmp_path / "no"), *there]
    stored = ["anonymize", "--method", "random", "--block", "20", "--out", (tmp_path / "no").as_uri(), *there]
    found = answers(*made, ["verify", str(tmp_path / "clump-there"), *there], refused, stored)
    assert [answer.code for answer in found] == [0, 0, 0, 2, 2]
    for id in ids:
        here = str(tmp_path / f"{id}-here")
        assert main(["anonymize", "--log", str(log), "--method", id, "--block", "20", "--out", here]) == 0
        assert contents(tmp_path / f"{id}-there") == contents(Path(here))
    assert "anonymizing blocks 0/1" in found[0].told
    assert any(re.search(r"^[a-z ]+ [1-9]\d*/", answer.told, re.M) for answer in found), "no task was ever told of"
    assert found[2].said.startswith("holds: ")
    assert "a block of 4 users cannot be anonymized" in found[3].told.splitlines()[-1]
    assert "Spark Connect puts no files there" in found[4].told.splitlines()[-1]


def test_a_server_that_is_not_there_is_told_at_once(tmp_path: Path) -> None:
    save_log(sample_log(20), tmp_path / "log.tsv")
    command = ["anonymize", "--log", str(tmp_path / "log.tsv"), "--method", "random", "--out", str(tmp_path / "no")]
    (answer,) = answers([*command, "--cluster", "sc://127.0.0.1:1"])
    assert answer.code == 2
    assert answer.told.splitlines()[-1].startswith("shoal: nobody answers at 127.0.0.1:1 (Connection refused)")
