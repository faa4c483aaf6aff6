"""Which release serves the searchers? Asked once per request, so that every answer is wholly of one release."""

import re
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from threading import Lock
from typing import Any

from sqlalchemy import Select, select

from shoal.anonymizer.claims import Verdict
from shoal.anonymizer.release_files import StoredRelease, read_release
from shoal.corpus.errors import InputError
from shoal.webapp.database import Activation, Database, LogFile, Release

_KEPT = 8
_QUOTED = re.compile(r"""'(?:\\.|[^'\\])*'|"(?:\\.|[^"\\])*\"""")


@dataclass(frozen=True)
class ReleaseSummary:
    """What a list shows of a release."""

    release_id: str
    method: str
    params: dict[str, Any]
    title: str
    measured: dict[str, float]
    verdict: Verdict
    checked_at: datetime


@dataclass(frozen=True, eq=False)
class LoadedRelease(ReleaseSummary):
    """A release with all its files read; nothing of it ever changes."""

    stored: StoredRelease


def release_folder(instance: Path, release_id: str) -> Path:
    """Where the files of a release lie. The folder above holds what was measured on it."""
    return instance / "runs" / release_id / "release"


@dataclass(eq=False)
class ActiveReleases:
    """The releases of the log that is served, and the one that is active.

    Every process asks the database which activation is the last one, and reads the files of a release only once.
    """

    database: Database
    instance: Path
    log_digest: str
    _loaded: dict[str, LoadedRelease] = field(default_factory=dict)
    _lock: Lock = field(default_factory=Lock)

    def current(self) -> LoadedRelease:
        found = self.current_id()
        if found is None:
            raise InputError("there is no active release yet: the operator activates one at /admin")
        return self.get(found)

    def current_id(self) -> str | None:
        return self.database.ask(latest_activation(self.log_digest))

    def get(self, release_id: str) -> LoadedRelease:
        with self._lock:
            found = self._loaded.pop(release_id, None) or self._load(release_id)
            self._loaded[release_id] = found
            while len(self._loaded) > _KEPT:
                del self._loaded[next(iter(self._loaded))]
            return found

    def was_active(self, release_id: str) -> bool:
        """Whether a release ever served the searchers, so that the public may know it."""
        with self.database.reading() as session:
            found = session.scalar(select(Activation.id).where(Activation.release_id == release_id).limit(1))
        return found is not None

    def listed(self, *, only_public: bool = False) -> list[ReleaseSummary]:
        """All releases of this log, or those that ever served the searchers, the newest first."""
        wanted = _of_log(self.log_digest).order_by(Release.created_at.desc(), Release.id)
        if only_public:
            wanted = wanted.where(Release.id.in_(select(Activation.release_id)))
        with self.database.reading() as session:
            rows = session.scalars(wanted).all()
        return [ReleaseSummary(**_summary(row)) for row in rows]

    def _load(self, release_id: str) -> LoadedRelease:
        with self.database.reading() as session:
            row = session.scalar(_of_log(self.log_digest).where(Release.id == release_id))
        if row is None:
            raise unknown_release()
        try:
            stored = read_release(release_folder(self.instance, release_id))
            if altered := stored.altered():
                raise InputError(f"{altered} is not the file that was published")
        except InputError as error:
            raise InputError(
                f"the files of release {release_id} are damaged: the operator activates another"
            ) from error
        return LoadedRelease(**_summary(row), stored=stored)


def _of_log(digest: str) -> Select[Release]:
    return select(Release).join(LogFile, LogFile.id == Release.log_id).where(LogFile.digest == digest)


def unknown_release() -> InputError:
    return InputError("no such release: choose one from the list")


def latest_activation(digest: str) -> Select[str]:
    return (
        select(Activation.release_id)
        .join(Release, Release.id == Activation.release_id)
        .join(LogFile, LogFile.id == Release.log_id)
        .where(LogFile.digest == digest)
        .order_by(Activation.id.desc())
        .limit(1)
    )


def without_names(counterexample: str) -> str:
    """A counterexample as searchers may see it: what it quotes may be a user's name, or what one user typed."""
    return _QUOTED.sub("…", counterexample)


def _summary(row: Release) -> dict[str, Any]:
    return {
        "release_id": row.id, "method": row.method, "params": row.params, "title": row.title, "measured": row.measured,
        "verdict": Verdict(row.holds, without_names(row.counterexample), row.certificate.get("sentence", "")),
        "checked_at": row.checked_at,
    }  # fmt: skip
