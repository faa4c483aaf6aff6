"""Which release serves the searchers, and what does it say of whom? Every answer is wholly of one release."""

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property, lru_cache
from pathlib import Path
from threading import Lock
from typing import Any

import numpy as np
from scipy.sparse import csr_array
from sqlalchemy import ColumnElement, Select, and_, or_, select

from shoal.anonymizer.base import Method, mean_profile
from shoal.anonymizer.base import Release as PublicRelease
from shoal.anonymizer.claims import Verdict
from shoal.anonymizer.registry import make_method
from shoal.anonymizer.release_files import StoredRelease, read_release
from shoal.corpus.errors import InputError, NotFound
from shoal.corpus.profiles import Profiles
from shoal.evaluation.measures.registry import columns
from shoal.search.vectors import DocumentVectors, profile_space
from shoal.webapp.database import Activation, Database, Job, LogFile, Release

_KEPT = 8
_QUOTED = re.compile(r"""'(?:\\.|[^'\\])*'|"(?:\\.|[^"\\])*\"""")


@dataclass(frozen=True, eq=False)
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
    of_real_people: bool = False  # then nobody's pseudonym is read
    corpus_digest: str = ""  # precision that was measured on other documents is not theirs
    _lock: Lock = field(default_factory=Lock)

    def current(self) -> LoadedRelease:
        found = self.current_id()
        if found is None:
            raise NotFound("there is no active release yet: the operator activates one at /admin")
        return self.get(found)

    def current_id(self) -> str | None:
        return self.database.ask(latest_activation(self.log_digest))

    def get(self, release_id: str) -> LoadedRelease:
        with self._lock:  # whoever asks for it meanwhile waits, and need not read it again
            return self._loaded(release_id)

    @cached_property
    def _loaded(self) -> Callable[[str], LoadedRelease]:
        return lru_cache(_KEPT)(self._load)

    def is_public(self, release_id: str) -> bool:
        """Whether the public may know a release."""
        with self.database.reading() as session:
            return session.scalar(select(Release.id).where(Release.id == release_id, _public())) is not None

    def listed(self, *, only_public: bool = False) -> list[ReleaseSummary]:
        """All releases of this log, or those that the public may know, the newest first."""
        wanted = _of_log(self.log_digest).order_by(Release.created_at.desc(), Release.id)
        if only_public:
            wanted = wanted.where(_public())
        with self.database.reading() as session:
            rows = session.scalars(wanted).all()
        return [ReleaseSummary(**_summary(row, self.corpus_digest)) for row in rows]

    def _load(self, release_id: str) -> LoadedRelease:
        with self.database.reading() as session:
            row = session.scalar(_of_log(self.log_digest).where(Release.id == release_id))
        if row is None:
            raise unknown_release()
        try:
            stored = read_release(release_folder(self.instance, release_id), secret=not self.of_real_people)
            if altered := stored.altered():
                raise InputError(f"{altered} is not the file that was published")
        except InputError as error:
            raise InputError(
                f"the files of release {release_id} are damaged: the operator activates another"
            ) from error
        return LoadedRelease(**_summary(row, self.corpus_digest), stored=stored)


def _of_log(digest: str) -> Select[Release]:
    return select(Release).join(LogFile, LogFile.id == Release.log_id).where(LogFile.digest == digest)


def _public() -> ColumnElement[bool]:
    """What ever served the searchers, and what the server made for them to choose and keeps its promise."""
    offered = select(Job.id).where(Job.task["offered"].as_string().is_not(None))
    return or_(Release.id.in_(select(Activation.release_id)), and_(Release.job_id.in_(offered), Release.holds))


def unknown_release() -> NotFound:
    return NotFound("no such release: choose one from the list")


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


def _summary(row: Release, corpus: str) -> dict[str, Any]:
    return {
        "release_id": row.id, "method": row.method, "params": row.params, "title": row.title,
        "measured": _measured_on(corpus, row),
        "verdict": Verdict(row.holds, without_names(row.counterexample), row.certificate.get("sentence", "")),
        "checked_at": row.checked_at,
    }  # fmt: skip


def _measured_on(corpus: str, row: Release) -> dict[str, float]:
    """What was measured, without the precision on documents that are not served. Risk does not depend on them."""
    if row.certificate.get("corpus_sha256", corpus) == corpus:
        return row.measured
    of_queries = {name for name, column in columns().items() if column.measure.heading == "precision"}
    return {name: value for name, value in row.measured.items() if name not in of_queries}


@dataclass(frozen=True, eq=False)
class Published:
    """A loaded release beside the log it was made from. `pairs` is of the trusted side: log users x profiles."""

    loaded: LoadedRelease
    pairs: csr_array
    space: csr_array  # labels x word forms of the corpus

    @property
    def release(self) -> PublicRelease:
        return self.loaded.stored.release

    @cached_property
    def method(self) -> Method:
        """The method that made it, and that says what is used at a search."""
        stored = self.loaded.stored
        return make_method(stored.manifest.method, stored.manifest.parameters, stored.knowledge)

    def profiles_of(self, user: int) -> np.ndarray:
        """The published profiles that a user is behind: one, several (sessions), or none (suppressed)."""
        return self.pairs.indices[self.pairs.indptr[user] : self.pairs.indptr[user + 1]]

    def find_group(self, pseudonym: str) -> np.ndarray:
        if pseudonym not in self._places:
            raise NotFound(f"the release {self.loaded.release_id} publishes no profile of that name: choose again")
        return np.array([self._places[pseudonym]])

    @cached_property
    def _places(self) -> dict[str, int]:
        return {name: row for row, name in enumerate(self.release.pseudonyms)}

    def weights(self, profiles: np.ndarray) -> csr_array:
        """One published profile, or the mean of several, as a row over the labels."""
        return mean_profile(self.release, profiles)

    def in_corpus(self, profiles: np.ndarray) -> csr_array:
        """The same in the space of the documents."""
        return csr_array(self.weights(profiles) @ self.space)

    @cached_property
    def _members(self) -> csr_array:
        return csr_array(self.pairs.T)

    def others(self, profiles: np.ndarray, user: int | None) -> np.ndarray:
        """The other users behind these profiles."""
        rows = self._members[profiles].indices
        return np.unique(rows[rows != user] if user is not None else rows)

    def size(self, profiles: np.ndarray) -> int:
        """How many users share the profile; the fewest where there are several."""
        return int(self.release.users[profiles].min()) if len(profiles) else 0


def publish_beside(loaded: LoadedRelease, profiles: Profiles | None, vectors: DocumentVectors) -> Published:
    """Join a release with the users of the log by name. Users that the log does not have are left out.

    Without profiles, as where the people are real, nobody is behind any of it.
    """
    release, assignment = loaded.stored.release, loaded.stored.assignment
    users = profiles.users if profiles is not None else assignment.users
    holder = assignment.rows_among(users)
    known = holder >= 0
    pairs = csr_array(
        (np.ones(int(known.sum())), (holder[known], assignment.profile[known])), shape=(len(users), len(release))
    )
    space = profile_space(release.labels, release.generalized, vectors, loaded.stored.knowledge)
    return Published(loaded, pairs, csr_array(space))
