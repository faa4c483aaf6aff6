"""Where does a release lie whose place is an address? Its public files at one of Spark's storages, its secrets here.

A storage may know no modes, and whoever runs it reads what lies there: who is behind which profile, and the key of
hashed terms, never leave this machine.
"""

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from uuid import uuid4

from shoal.anonymizer.base import Anonymized, Method
from shoal.anonymizer.cluster.session import Session, opened
from shoal.anonymizer.manifest import MANIFEST, Manifest
from shoal.anonymizer.release_files import ASSIGNMENT, SECRET, write_release
from shoal.corpus.errors import InputError
from shoal.corpus.progress import Progress


def secrets_beside(place: str) -> Path:
    """The folder of a release's secrets where none is named: one in this folder with the name of the release."""
    return Path(f"{_name(place)}-secret")


def _name(place: str) -> str:
    return urlsplit(place).path.rstrip("/").rpartition("/")[2]


def check_place(place: str) -> None:
    """An address names a folder of a storage, and nothing that others must not read."""
    if urlsplit(place).password is not None:
        raise InputError(
            "the address of the release holds a password, which everybody on this machine could see: "
            "tell it to Spark in spark-defaults.conf"
        )
    if not _name(place):
        raise InputError(f"{place}: expected an address with the name of a release, such as hdfs://host/releases/may")


class Storage:
    """The place of a release at one of Spark's storages, through the file systems of its Java."""

    def __init__(self, session: Session, place: str) -> None:
        if session.is_connect:
            raise InputError(
                f"{place}: Spark Connect puts no files there: give a folder of this machine, and copy its public files"
            )
        self.place = place.rstrip("/")
        self._jvm = session.spark.sparkContext._jvm
        self._root = self._path(self.place)
        configuration = session.spark.sparkContext._jsc.hadoopConfiguration()
        # One of our own: what is set on it holds for nobody else.
        self._files = self._jvm.org.apache.hadoop.fs.FileSystem.newInstance(self._root.toUri(), configuration)
        self._files.setWriteChecksum(False)  # no files of checksums beside ours

    def _path(self, *names: str) -> Any:
        return self._jvm.org.apache.hadoop.fs.Path("/".join(names))

    def close(self) -> None:
        self._files.close()

    def _names(self) -> list[str] | None:
        """What lies at the place; nothing where it is no folder."""
        if not self._files.getFileStatus(self._root).isDirectory():
            return None
        return sorted(found.getPath().getName() for found in self._files.listStatus(self._root))

    def need_free(self, secrets: Path, force: bool) -> None:
        """Refuse what is there already, as it is with folders of this machine."""
        if secrets.exists() and not (force and _holds_secrets(secrets)):
            raise InputError(f"{secrets} is there already: name another folder by --secrets, or replace it by --force")
        if not self._files.exists(self._root):
            return
        names = self._names()
        if names is None or (names and MANIFEST not in names):
            raise InputError(f"{self.place} is there already and is no release: name another place by --out")
        if names and not force:
            raise InputError(f"{self.place} holds a release already: name another place, or replace it by --force")

    def write(self, made: Anonymized, method: Method, seed: int, secrets: Path) -> Manifest:
        """Write all files of a release: at the place it is there whole, or not at all."""
        secrets.parent.mkdir(parents=True, exist_ok=True)
        temporary = Path(tempfile.mkdtemp(dir=secrets.parent, prefix=f".{secrets.name}-"))
        try:
            manifest = write_release(temporary / "release", made, method, None, seed)
            (temporary / "secret").mkdir(mode=0o700)
            for name in SECRET:
                if (temporary / "release" / name).exists():
                    os.replace(temporary / "release" / name, temporary / "secret" / name)
            self._put(temporary / "release")
            if secrets.exists():
                shutil.rmtree(secrets)
            os.replace(temporary / "secret", secrets)
        finally:
            shutil.rmtree(temporary, ignore_errors=True)
        return manifest

    def _put(self, folder: Path) -> None:
        parent, _, name = self.place.rpartition("/")
        temporary = self._path(parent, f".{name}-{uuid4().hex[:12]}")
        try:
            self._files.mkdirs(temporary)
            for path in sorted(folder.iterdir()):
                self._files.copyFromLocalFile(False, True, self._path(path.resolve().as_uri()), temporary)
            self._files.delete(self._root, True)
            if not self._files.rename(temporary, self._root):
                raise InputError(f"{self.place} could not be given its name: is somebody else writing there?")
        except BaseException:
            self._files.delete(temporary, True)
            raise

    def fetch(self, folder: Path, secrets: Path) -> None:
        """Bring a release into a folder of this machine, together with its secrets."""
        if not (secrets / ASSIGNMENT).is_file():
            raise InputError(f"no {ASSIGNMENT} of the release in {secrets}: name its folder by --secrets")
        names = self._names() if self._files.exists(self._root) else None
        if not names or MANIFEST not in names:
            raise InputError(f"no release at {self.place}: it holds no {MANIFEST}; make one by `shoal anonymize`")
        if found := set(names) & set(SECRET):
            raise InputError(f"{self.place} holds {min(found)}, which is secret: delete it there")
        for name in names:
            target = self._path((folder / name).resolve().as_uri())
            self._files.copyToLocalFile(False, self._path(self.place, name), target, True)
        for name in SECRET:
            if (secrets / name).exists():
                shutil.copyfile(secrets / name, folder / name)


def _holds_secrets(folder: Path) -> bool:
    return folder.is_dir() and {path.name for path in folder.iterdir()} <= set(SECRET)


@contextmanager
def opened_storage(address: str, place: str, progress: Progress) -> Iterator[Storage]:
    """The place of a release, in a session that the work of a cluster takes as its own."""
    check_place(place)
    with opened(address, progress) as session:
        storage = Storage(session, place)
        try:
            yield storage
        finally:
            storage.close()
