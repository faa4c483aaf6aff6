"""What of a cluster can be tested without one? What travels from the workers, and what is refused before any work."""

import sys
from pathlib import Path

import pytest

from shoal.anonymizer.blocks import anonymize_in_blocks, cut, digest_of, united
from shoal.anonymizer.cluster.run import failed, packed, unpacked
from shoal.anonymizer.contract.sample_logs import sample_log
from shoal.anonymizer.registry import make_method
from shoal.anonymizer.release_files import write_release
from shoal.cli import main
from shoal.corpus.logs.aol import save_log

LOG = sample_log(40)


@pytest.mark.parametrize("id", ["clump", "microaggregation", "token-hashing", "plain", "original"])
def test_a_release_that_travels_in_bytes_stays_what_it_was(id: str, tmp_path: Path) -> None:
    method = make_method(id, {})
    whole = anonymize_in_blocks(method, LOG, 100, seed=3)  # one block
    (log,) = cut(LOG, 100)
    row = packed(0, log, whole).row(0, named=True)
    again = united(method, [unpacked(row, method.claim())], whole.blocks)  # type: ignore[arg-type]
    files = {}
    for name, made in (("sent", whole), ("received", again)):
        write_release(tmp_path / name, made, method, None, 3)
        files[name] = {path.name: path.read_bytes() for path in (tmp_path / name).iterdir()}
    assert files["sent"] == files["received"]
    assert row["log_users"] == 40
    assert digest_of([row["digest"]]) == whole.blocks.digest  # type: ignore[union-attr]


def test_a_block_that_failed_says_why() -> None:
    row = failed(7, "too few users").row(0, named=True)
    assert (row["block"], row["error"], row["profiles"]) == (7, "too few users", None)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--method", "random", "--cluster", "mesos://host"], "expected local[2], spark://host:7077"),
        (["--method", "affinity", "--cluster", "local[2]"], "affinity cannot be run in blocks of users"),
        (["--method", "random", "--cluster", "local[2]"], "--cluster needs Spark: install shoal-search[spark]"),
        (["--method", "random", "--cluster", "local[2]", "--corpus", "news"], "leave it or --cluster away"),
        (["--method", "random", "--cluster", "sc://host/;token=abc"], "--cluster holds a token, which everybody"),
        (["--method", "random", "--out", "hdfs://host/release"], "name that by --cluster, or give a folder"),
        (["--method", "random", "--cluster", "local[2]", "--out", "s3a://a:b@c/d"], "release holds a password"),
        (["--method", "random", "--cluster", "local[2]", "--out", "hdfs://host/"], "with the name of a release"),
        (["--method", "random", "--cluster", "local[2]", "--secrets", "there"], "a folder holds its own secrets"),
        (["--method", "common", "--block", "20", "--previous", "here"], "leave it or the blocks away"),
    ],
)
def test_what_a_cluster_cannot_do_is_refused_in_one_line(
    options: list[str],
    message: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in [name for name in sys.modules if name.split(".")[0] == "pyspark"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "pyspark", None)  # as if it were not installed
    save_log(LOG, tmp_path / "log.tsv")
    assert main(["anonymize", "--log", str(tmp_path / "log.tsv"), "--out", str(tmp_path / "release"), *options]) == 2
    said = capsys.readouterr().err
    assert message in said
    assert said.count("\n") == 1
