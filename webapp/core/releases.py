"""Which release serves the searchers, and what does it say of whom? Every answer is wholly of one release."""

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from functools import cache, cached_property, lru_cache
from pathlib import Path
from threading import Lock
from typing import Any

import numpy as np
import polars as pl
from scipy.sparse import csr_array
from sqlalchemy import ColumnElement, Select, and_, select

from shoal.anonymizer.base import Method, mean_profile
from shoal.anonymizer.base import Release as PublicRelease
from shoal.anonymizer.claims import Verdict, sentence
from shoal.anonymizer.manifest import Manifest
from shoal.anonymizer.registry import make_method
from shoal.anonymizer.release_files import StoredRelease, read_release
from shoal.corpus.errors import Gone, InputError, NotFound
from shoal.corpus.profiles import Profiles
from shoal.corpus.querylog import make_log
from shoal.corpus.searches import Blend
from shoal.corpus.version import VERSION
from shoal.evaluation.measures.registry import columns
from shoal.evaluation.protocol.blending import average_row
from shoal.search.personal import Average
from shoal.search.vectors import Vectors, profile_space
from shoal.webapp.core.seal import Damaged, check_seal, release_folder, set_damaged
from shoal.webapp.database import Database, LogFile, Release
from shoal.webapp.database.models import ACTIVE, DELETED, MADE, RETIRED, WITHDRAWN, now

NOTHING = "none"  # what stands where the id of a release would, when none is active
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


@dataclass(eq=False)
class ActiveReleases:
    """The releases of the log that is served, and the one that is active.

    Every process asks the database with every request in which state a release is, and reads its files only once.
    """

    database: Database
    instance: Path
    log_digest: str
    of_real_people: bool = False  # then nobody's pseudonym is read
    corpus_digest: str = ""  # precision that was measured on other documents is not theirs
    _lock: Lock = field(default_factory=Lock)

    def current(self) -> LoadedRelease:
        """The active release; an error where there is none."""
        found = self.current_id()
        if found is None:
            raise self._nothing_active()
        return self._once(found)

    def serving(self) -> LoadedRelease:
        """What searches go by: the active release. Where there is none, plain results go on."""
        try:
            return self.current()
        except (NotFound, Damaged):
            return nothing_published()

    def current_id(self) -> str | None:
        asked = ("active", self.log_digest)
        return self.database.remembered(
            asked, lambda: self.database.ask(_active(self.log_digest).where(Release.damaged == ""))
        )

    def _nothing_active(self) -> InputError:
        damaged = self.database.ask(_active(self.log_digest))
        if damaged is not None:
            return _damaged(damaged)
        return NotFound("no release is active, so results are plain: the operator activates one at /admin")

    def get(self, release_id: str, *, only_public: bool = False) -> LoadedRelease:
        """A release that is not withdrawn and not damaged; to the public, one that was never published is not there."""
        row = self.database.remembered(("release", self.log_digest, release_id), lambda: self._row(release_id))
        if row is None or (only_public and row.published_at is None):
            raise unknown_release()
        if row.state in (WITHDRAWN, DELETED):
            raise Gone(f"the release {release_id} was withdrawn: choose another from the list")
        if row.damaged:
            raise _damaged(release_id)
        return self._once(release_id)

    def _row(self, release_id: str) -> Release | None:
        with self.database.reading() as session:
            return session.scalar(_of_log(self.log_digest).where(Release.id == release_id))

    def _once(self, release_id: str) -> LoadedRelease:
        with self._lock:  # whoever asks for it meanwhile waits, and need not read it again
            return self._loaded(release_id)

    @cached_property
    def _loaded(self) -> Callable[[str], LoadedRelease]:
        return lru_cache(_KEPT)(self._load)

    def listed(self, *, only_public: bool = False) -> list[ReleaseSummary]:
        """All releases of this log that can be looked at, or those that the public may know, the newest first."""
        asked = ("listed", self.log_digest, self.corpus_digest, only_public)
        return list(self.database.remembered(asked, lambda: self._listed(only_public)))

    def _listed(self, only_public: bool) -> list[ReleaseSummary]:
        wanted = _of_log(self.log_digest).order_by(Release.created_at.desc(), Release.id)
        wanted = wanted.where(_public() if only_public else _there())
        with self.database.reading() as session:
            rows = session.scalars(wanted).all()
        return [ReleaseSummary(**_summary(row, self.corpus_digest)) for row in rows]

    def _load(self, release_id: str) -> LoadedRelease:
        with self.database.reading() as session:
            row = session.scalars(_of_log(self.log_digest).where(Release.id == release_id)).one()
        if check_seal(self.database, self.instance, row):
            raise _damaged(release_id)
        try:
            stored = read_release(release_folder(self.instance, release_id), secret=not self.of_real_people)
        except InputError as error:
            set_damaged(self.database, release_id, "its files cannot be read")
            raise _damaged(release_id) from error
        return LoadedRelease(**_summary(row, self.corpus_digest), stored=stored)


def _damaged(release_id: str) -> Damaged:
    return Damaged(f"the files of release {release_id} are damaged: they are not what was made, so it is not served")


@cache
def nothing_published() -> LoadedRelease:
    """What stands for the active release where there is none: it publishes nothing of anybody."""
    method, none = make_method("plain", {}), pl.Series(dtype=pl.String)
    made = method.run(make_log(none, none))
    manifest = Manifest("plain", {}, made.claim, None, {}, 0, 0, made.suppressed, VERSION)
    stored = StoredRelease(made.release, made.assignment, manifest, method.knowledge, {})
    return LoadedRelease(
        NOTHING, "plain", {}, "No release is active", {}, Verdict(True, "", sentence(made.claim)), now(), stored
    )


def _of_log(digest: str) -> Select[Release]:
    return select(Release).join(LogFile, LogFile.id == Release.log_id).where(LogFile.digest == digest)


def _there() -> ColumnElement[bool]:
    return and_(Release.state.in_((MADE, ACTIVE, RETIRED)), Release.damaged == "")


def _public() -> ColumnElement[bool]:
    """What went through the gate, and is neither withdrawn nor damaged since."""
    return and_(Release.published_at.is_not(None), _there())


def unknown_release() -> NotFound:
    return NotFound("no such release: choose one from the list")


def _active(digest: str) -> Select[str]:
    return (
        select(Release.id)
        .join(LogFile, LogFile.id == Release.log_id)
        .where(LogFile.digest == digest, Release.state == ACTIVE)
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
    average: Average | None = None  # what ranks beside its profiles, where that was learned

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

    def find_word(self, word: str) -> str:
        """A word of the catalogue of a murmur: what may be said at a search."""
        catalogue = self.release.catalogue
        if self.loaded.method != "murmur" or catalogue is None or word not in catalogue.terms:
            raise NotFound(f"the release {self.loaded.release_id} has no such word in its catalogue: say nothing")
        return word

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


def publish_beside(loaded: LoadedRelease, profiles: Profiles | None, vectors: Vectors) -> Published:
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
    space = profile_space(release.labels, release.generalized, vectors, loaded.stored.knowledge, assignment.key)
    return Published(loaded, pairs, csr_array(space), _average(loaded.stored, vectors))


def _average(stored: StoredRelease, vectors: Vectors) -> Average | None:
    blend, catalogue = stored.manifest.blend, stored.release.catalogue
    return None if blend is None or catalogue is None else Average(average_row(catalogue, vectors), Blend(**blend))
