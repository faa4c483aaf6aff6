"""Is a release that a cluster makes the one that one machine makes with the same blocks, file by file?"""

import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.anonymizer.base import Method
from shoal.anonymizer.blocks import anonymize_in_blocks
from shoal.anonymizer.cluster.run import ClusterRelease, anonymize_on_cluster
from shoal.anonymizer.cluster.verify import verify_on_cluster
from shoal.anonymizer.contract.sample_logs import sample_log
from shoal.anonymizer.noisy_counts import NoisyCounts
from shoal.anonymizer.registry import make_method, methods
from shoal.anonymizer.release_files import read_release, write_release
from shoal.anonymizer.verify_stored import verify_stored
from shoal.cli import main
from shoal.corpus.errors import InputError
from shoal.corpus.logs import load_log
from shoal.corpus.logs.aol import FOUND, save_log
from shoal.corpus.progress import Progress, silent
from shoal.corpus.querylog import QueryLog, make_log
from tests.cluster.spark.standalone import StandaloneCluster
from tests.examples import examples

IN_BLOCKS = [id for id, method in methods().items() if method.info.cluster in ("blocks", "counts")]
WITHOUT_NOISE = [id for id in IN_BLOCKS if methods()[id].info.family != "noise"]
SETTINGS: dict[str, dict[str, object]] = {"murmur": {"k": 5}, "linkability": {"p": 0.5}}
LOG = sample_log(60)
SIZE = 20


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    written = tmp_path_factory.mktemp("log") / "log.tsv"
    save_log(LOG, written)
    return written


def by_the_cluster(
    cluster: StandaloneCluster, path: Path, method: Method, size: int = SIZE, progress: Progress = silent
) -> ClusterRelease:
    return anonymize_on_cluster(cluster.url, str(path), method, size, 3, FOUND, False, progress)


def files(folder: Path, made: Any, method: Method) -> dict[str, bytes]:
    write_release(folder, made, method, None, 3)
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def count_exactly(self: NoisyCounts, counts: np.ndarray, progress: Progress) -> tuple[np.ndarray, np.ndarray]:
    """No noise, which no two runs have in common, and all that three users count for."""
    passed = np.flatnonzero(counts >= 3)
    return passed, counts[passed]


@pytest.mark.parametrize("id", IN_BLOCKS)
def test_every_file_is_that_of_one_machine_and_the_promise_holds(
    id: str, cluster: StandaloneCluster, spark: Any, path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(NoisyCounts, "release", count_exactly)
    method = make_method(id, SETTINGS.get(id, {}))
    done = by_the_cluster(cluster, path, method)
    here = anonymize_in_blocks(method, LOG, SIZE, seed=3)
    assert files(tmp_path / "there", done.made, method) == files(tmp_path / "here", here, method)
    if method.info.family != "noise":  # of which there is none here, so that nothing is promised
        assert verify_stored(read_release(tmp_path / "there"), LOG).counterexample == ""


@given(st.integers(0, 2**30), st.integers(20, 60), st.integers(20, 40), st.sampled_from(WITHOUT_NOISE))
@examples(18)
def test_whatever_log_and_blocks_the_release_is_that_of_one_machine(
    cluster: StandaloneCluster, spark: Any, seed: int, users: int, size: int, id: str
) -> None:
    log, method = sample_log(users, seed=seed), make_method(id, SETTINGS.get(id, {}))
    with TemporaryDirectory() as folder:
        path = Path(folder) / "log.tsv"
        save_log(log, path)
        done = by_the_cluster(cluster, path, method, size)
        here = anonymize_in_blocks(method, log, size, seed=3)
        assert files(Path(folder) / "there", done.made, method) == files(Path(folder) / "here", here, method)


@pytest.mark.parametrize("id", ["clump", "common"])
def test_a_cluster_verifies_blocks_and_sees_what_was_changed(
    id: str, cluster: StandaloneCluster, spark: Any, path: Path, tmp_path: Path
) -> None:
    method = make_method(id, {})
    write_release(tmp_path / "release", anonymize_in_blocks(method, LOG, SIZE, seed=3), method, None, 3)
    stored = read_release(tmp_path / "release")
    verdict = verify_on_cluster(cluster.url, str(path), stored, FOUND, silent)
    assert verdict == verify_stored(stored, LOG)
    counts = replace(stored.manifest.suppressed, occurrences=stored.manifest.suppressed.occurrences + 1)
    more = replace(stored, manifest=replace(stored.manifest, suppressed=counts))
    assert "suppressed occurrences" in verify_on_cluster(cluster.url, str(path), more, FOUND, silent).counterexample
    weights = stored.release.weights.copy()
    weights.data[0] += 1
    other = replace(stored, release=replace(stored.release, weights=weights))
    assert not verify_on_cluster(cluster.url, str(path), other, FOUND, silent).holds


def test_what_is_counted_over_all_users_is_verified_on_one_machine(tmp_path: Path) -> None:
    method = make_method("equality", {})
    write_release(tmp_path / "release", anonymize_in_blocks(method, LOG, SIZE), method, None, 0)
    with pytest.raises(InputError, match="counted over all users"):
        verify_on_cluster("local[1]", "nowhere", read_release(tmp_path / "release"), FOUND, silent)


def awkward_log() -> QueryLog:
    """Names and queries of other scripts, signs, clicks of one second, and rows without a time."""
    users = ["ü", "a b", "'quoted'", "=1+1", "漢字", "ı"] * 4
    queries = ["вино", "red wine", 'say "cheese"', "c++ | a", "beer", "red  Wine"] * 4
    clicks = ["", "http://a.org/?q=1,2", "", "x", "", "y"] * 4
    times = np.repeat(np.array([7, 7, 8, 7], dtype=np.int64), 6) + 1_141_171_200
    return make_log(pl.Series(users), pl.Series(queries), times, pl.Series(clicks))


@pytest.mark.parametrize("ending", ["tsv", "csv", "parquet"])
def test_awkward_rows_are_read_as_on_one_machine(
    ending: str, cluster: StandaloneCluster, spark: Any, tmp_path: Path
) -> None:
    log, path, method = awkward_log(), tmp_path / f"log.{ending}", make_method("original", {})
    frame = log.frame()
    if ending == "parquet":
        frame.write_parquet(path)
    else:
        frame.write_csv(path, separator="\t" if ending == "tsv" else ",", datetime_format="%Y-%m-%d %H:%M:%S")
    read, _ = load_log(str(path))
    done = by_the_cluster(cluster, path, method, 2)
    here = anonymize_in_blocks(method, read, 2, seed=3)
    assert done.made.blocks == here.blocks
    assert files(tmp_path / "there", done.made, method) == files(tmp_path / "here", here, method)


def test_rows_that_cannot_be_read_are_counted_and_blocks_that_are_too_small_refused(
    cluster: StandaloneCluster, spark: Any, path: Path, tmp_path: Path
) -> None:
    spoilt = tmp_path / "spoilt.tsv"
    spoilt.write_text(path.read_text() + "somebody\n17\ta query\tnever\t\t\n")
    done = by_the_cluster(cluster, spoilt, make_method("plain", {}))
    assert sum(done.rejected.values()) == 2
    assert done.made.blocks == anonymize_in_blocks(make_method("plain", {}), LOG, SIZE).blocks
    with pytest.raises(InputError, match="a block of 4 users cannot be anonymized") as refused:
        by_the_cluster(cluster, path, make_method("random", {"k": 9}), 4)
    assert "\n" not in str(refused.value)


def test_a_worker_that_is_lost_in_the_middle_changes_nothing(
    cluster: StandaloneCluster, spark: Any, tmp_path: Path
) -> None:
    log, path, method = sample_log(600, seed=1), tmp_path / "log.tsv", make_method("linkability", {"p": 0.2})
    save_log(log, path)
    lost: list[int] = []

    def kill(done: int, total: int, stage: str) -> None:
        if stage == "anonymizing blocks" and not lost and 0 < done < total:
            lost.append(cluster.workers[0])
            cluster.kill_worker(lost[0])

    done = by_the_cluster(cluster, path, method, 20, kill)
    assert lost, "the run was over before a worker could be lost"
    here = anonymize_in_blocks(method, log, 20, seed=3)
    assert files(tmp_path / "there", done.made, method) == files(tmp_path / "here", here, method)
    cluster.workers.append(cluster.add_worker())
    cluster.wait_for(2)


def test_the_command_makes_a_release_by_a_cluster(
    cluster: StandaloneCluster, spark: Any, path: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    given = ["--method", "equality", "--log", str(path), "--block", "20"]
    assert main(["anonymize", *given, "--cluster", cluster.url, "--out", str(tmp_path / "there")]) == 0
    said = capsys.readouterr().out
    assert "60 users" in said
    assert f"`shoal verify {tmp_path / 'there'} --log {path}`" in said  # without --cluster, which sees no sums
    assert main(["anonymize", *given, "--out", str(tmp_path / "here")]) == 0
    assert (tmp_path / "there/manifest.json").read_bytes() == (tmp_path / "here/manifest.json").read_bytes()
    assert main(["verify", str(tmp_path / "there"), "--log", str(path)]) == 0


def test_what_a_command_made_is_checked_by_the_command_that_it_names(
    cluster: StandaloneCluster, spark: Any, path: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    address, out = path.as_uri(), str(tmp_path / "release")
    given = ["--cluster", cluster.url, "--log", address]
    assert main(["anonymize", *given, "--method", "clump", "--block", "20", "--out", out]) == 0
    _, command, _ = capsys.readouterr().out.split("`")
    assert main(command.split()[1:]) == 0
    assert main(["verify", out, "--log", address]) == 2
    assert "which only a cluster reads" in capsys.readouterr().err


def test_workers_run_the_python_of_the_command_whatever_is_first_on_the_path(path: Path, tmp_path: Path) -> None:
    foreign = tmp_path / "bin" / "python3"
    foreign.parent.mkdir()
    foreign.write_text("#!/bin/sh\necho 'this is no Python' >&2\nexit 1\n")
    foreign.chmod(0o755)
    around = {name: value for name, value in os.environ.items() if not name.startswith("PYSPARK_")}
    around |= {"PATH": f"{foreign.parent}{os.pathsep}{around['PATH']}", "SPARK_LOCAL_IP": "127.0.0.1"}
    command = [sys.executable, "-P", "-m", "shoal", "anonymize", "--cluster", "local[1]", "--method", "random"]
    command += ["--log", str(path), "--block", "20", "--out", str(tmp_path / "release")]
    done = subprocess.run(command, env=around, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr[-2000:]
