"""How is a folder replaced while others read it? Built aside under a name of its own, then pointed to by one rename."""

import contextlib
import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

from shoal.corpus.errors import InputError
from shoal.corpus.progress import Progress
from shoal.corpus.store.locks import alone

# A folder holds its versions and a file that names the current one.
_CURRENT, _LOCK = "current", "lock"
_PREFIX = "version-"


@contextlib.contextmanager
def new_version(folder: Path) -> Iterator[Path]:
    """A new, empty version to fill. It becomes the current one when the block ends, and is gone if it fails.

    Only the `only_builder` of the folder may ask for one.
    """
    _remove_others(folder, keep=current_version(folder))
    version = Path(tempfile.mkdtemp(prefix=_PREFIX, dir=folder))
    try:
        yield version
    except BaseException:
        shutil.rmtree(version, ignore_errors=True)
        raise
    _point_to(folder, version.name)
    _remove_others(folder, keep=version.name)


def current_version(folder: Path) -> str | None:
    """The name of the version to read, or None if there is none."""
    try:
        name = (folder / _CURRENT).read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError):
        return None
    return name if name.startswith(_PREFIX) and Path(name).name == name else None


def _point_to(folder: Path, name: str) -> None:
    """The swap: one rename, so that every reader sees the old name or the new one."""
    temporary = folder / f"{_CURRENT}.new"
    write_synced(temporary, name)
    os.replace(temporary, folder / _CURRENT)


def write_synced(path: Path, text: str) -> None:
    with path.open("w", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())


def _remove_others(folder: Path, keep: str | None) -> None:
    """Earlier versions, and what a killed build left. Who has their files open keeps them."""
    for left_over in folder.glob(f"{_PREFIX}*"):
        if left_over.name != keep:
            shutil.rmtree(left_over, ignore_errors=True)


@contextlib.contextmanager
def only_builder(folder: Path, progress: Progress) -> Iterator[None]:
    """One builder of the folder at a time."""
    folder.mkdir(parents=True, exist_ok=True)
    foreign = [path.name for path in folder.iterdir() if not _is_ours(path.name)]
    if foreign:
        raise InputError(f"{folder} holds other files ({foreign[0]}); give an empty folder for the index")
    with alone(folder / _LOCK, "waiting for another process that builds this index", progress):
        yield


def _is_ours(name: str) -> bool:
    return name in (_CURRENT, f"{_CURRENT}.new", _LOCK) or name.startswith(_PREFIX)


def file_sizes(version: Path) -> dict[str, int]:
    """Every file below, with its size: enough to notice one that is cut short or missing."""
    files = sorted(path for path in version.rglob("*") if path.is_file() and not path.name.startswith("."))
    return {str(path.relative_to(version)): path.stat().st_size for path in files}
