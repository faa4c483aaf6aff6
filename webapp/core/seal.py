"""Is a release what was made? The database keeps the digest of its manifest, the manifest those of all public files."""

import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from sqlalchemy import select, update

from shoal.anonymizer.manifest import MANIFEST, PUBLIC, file_digest, read_json
from shoal.corpus.errors import Unavailable
from shoal.webapp.core.audit import note
from shoal.webapp.database import Database, Release
from shoal.webapp.database.models import DELETED

NOTHING_SHOWN: dict[str, Any] = {"groups": 0, "alone": 0, "terms": [], "queries": []}


class Damaged(Unavailable):
    """A release that is not what was made: it is not served."""


def release_folder(instance: Path, release_id: str) -> Path:
    """Where the files of a release lie. The folder above holds what was measured on it."""
    return instance / "runs" / release_id / "release"


def seal_of(folder: Path) -> str:
    return file_digest(folder / MANIFEST)


def altered(folder: Path, seal: str) -> str:
    """A file that is not as it was made, and what is wrong with it; nothing if all are."""
    try:
        content = (folder / MANIFEST).read_bytes()
        if hashlib.sha256(content).hexdigest() != seal:
            return f"{MANIFEST} was changed"
        digests: Mapping[str, str] = read_json(content.decode())["digests"]
        for name in PUBLIC:
            if (folder / name).exists() != (name in digests):
                return f"{name} is missing" if name in digests else f"{name} was added"
            if name in digests and file_digest(folder / name) != digests[name]:
                return f"{name} was changed"
    except OSError as error:
        return f"{Path(error.filename or MANIFEST).name} cannot be read ({error.strerror})"
    return ""


def check_seal(database: Database, instance: Path, release: Release) -> str:
    """What is wrong with the files of a release now; it is kept, so that no process serves it, until it is mended."""
    wrong = altered(release_folder(instance, release.id), release.seal)
    if wrong != release.damaged:
        set_damaged(database, release.id, wrong)
    return wrong


def set_damaged(database: Database, release_id: str, wrong: str) -> None:
    same = (Release.id == release_id, Release.damaged != wrong, Release.state != DELETED)
    with database.writing() as session:
        changed = update(Release).where(*same).values(damaged=wrong)
        if session.execute(changed.returning(Release.id)).first() is not None:
            note(session, "release.damaged" if wrong else "release.mended", "", release_id, {"what": wrong})


def check_damaged(database: Database, instance: Path) -> None:
    """Look again at what was found damaged: somebody may have restored the files."""
    with database.reading() as session:
        damaged = session.scalars(select(Release).where(Release.damaged != "", Release.state != DELETED)).all()
    for release in damaged:
        check_seal(database, instance, release)


def seal_old_releases(database: Database, instance: Path) -> None:
    """Releases of a version that kept no seals get theirs as they are now."""
    with database.reading() as session:
        unsealed = session.scalars(select(Release.id).where(Release.seal == "", Release.state != DELETED)).all()
    for release_id in unsealed:
        folder = release_folder(instance, release_id)
        if not (folder / MANIFEST).is_file():
            continue  # it is found damaged when it is wanted
        sealed: dict[str, Any] = {"seal": seal_of(folder)}
        if not read_json((folder / MANIFEST).read_text())["groups"]:
            sealed["exposure"] = NOTHING_SHOWN
        with database.writing() as session:
            session.execute(update(Release).where(Release.id == release_id).values(**sealed))
            note(session, "release.seal", "", release_id, {"manifest": sealed["seal"]})
