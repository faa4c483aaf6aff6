"""How are logs read, anonymized, verified and attacked in Python? read_log, anonymize, load, and what they make."""

import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from secrets import SystemRandom
from typing import Any

import numpy as np
import polars as pl
from scipy.sparse import csr_array

from shoal.anonymizer.base import Anonymized, Assignment, Blocks, Claim, Method, Release, Suppressed
from shoal.anonymizer.base import profile_of as published_row
from shoal.anonymizer.blocks import anonymize_in_blocks, ordered
from shoal.anonymizer.claims import Evidence, Verdict, verify
from shoal.anonymizer.manifest import MANIFEST, Manifest
from shoal.anonymizer.registry import make_method
from shoal.anonymizer.release_files import StoredRelease, read_release, write_release
from shoal.anonymizer.verify_stored import verify_stored
from shoal.corpus.errors import InputError
from shoal.corpus.knowledge import Knowledge
from shoal.corpus.logs import LogFormat, Rejected, load_log, log_of_frame
from shoal.corpus.profiles import build_profiles
from shoal.corpus.progress import Progress, bar
from shoal.corpus.querylog import QueryLog, counted, find_user
from shoal.corpus.searches import Blend, Chooser, Device
from shoal.corpus.tokens import HashKey
from shoal.search.index import Index
from shoal.search.personal import Average
from shoal.search.vectors import own_profiles, profile_space

_SHOWN = 8  # terms of a profile in its short form


def read_log(
    source: Any,
    *,
    user: str = "",
    query: str = "",
    time: str = "",
    rank: str = "",
    click: str = "",
    encoding: str = "",
    strict: bool = False,
    progress: Progress | None = None,
) -> QueryLog:
    """The log in a file, folder or pattern, in a frame of pandas, polars or Arrow, or in a list of tuples.

    Columns are found by their names; those that are given otherwise are named by `user`, `query` and so on. Rows that
    cannot be read are left out with a warning that counts them; with `strict`, the first is an error.

    >>> log = shoal.read_log([("u1", "red wine"), ("u1", "white wine"), ("u2", "dark beer")])
    >>> log
    QueryLog(3 queries of 2 users, 3 distinct, 0 clicks, people: real)
    """
    given = {"user": user, "query": query, "time": time, "rank": rank, "click": click}
    format = LogFormat({role: name for role, name in given.items() if name}, encoding)
    if isinstance(source, str | Path):
        with bar(progress) as told:
            log, rejected = load_log(str(source), format=format, strict=strict, progress=told)
    else:
        log, rejected = log_of_frame(source, format, strict)
    _warn(rejected)
    return log


def _warn(rejected: Rejected) -> None:
    if len(rejected):
        reasons = "; ".join(f"{count:,}: {reason}" for reason, count in rejected.reasons().items())
        warnings.warn(f"{len(rejected):,} of the rows could not be read ({reasons})", stacklevel=3)
    if rejected.damaged:
        warnings.warn(f"{rejected.damaged:,} bytes are not UTF-8: try encoding={rejected.encoding!r}", stacklevel=3)


@dataclass(frozen=True, eq=False, repr=False)
class Profile(Mapping[str, float]):
    """The terms that order somebody's results, with their weights; `in_space` puts them beside the documents."""

    terms: dict[str, float]
    in_space: Callable[[Index], csr_array | Chooser]
    name: str
    average: Callable[[Index], Average | None] = lambda index: None  # what ranks beside it, where a release says so

    def __getitem__(self, term: str) -> float:
        return self.terms[term]

    def __iter__(self) -> Iterator[str]:
        return iter(self.terms)

    def __len__(self) -> int:
        return len(self.terms)

    def __repr__(self) -> str:
        most = sorted(self.terms.items(), key=lambda one: -one[1])
        shown = ", ".join(f"{term} {weight:g}" for term, weight in most[:_SHOWN])
        return f"Profile({shown}{f', and {len(most) - _SHOWN} more' if len(most) > _SHOWN else ''})"


def own_profile(log: QueryLog, user: str, knowledge: Knowledge | None = None) -> Profile:
    """What a user's own queries say of them: what a release protects."""
    one = log.for_users(np.array([find_user(user, log.users)]))
    made = build_profiles(one, (knowledge or Knowledge()).words)
    terms = {made.terms[term]: float(count) for term, count in zip(made.counts.indices, made.counts.data, strict=True)}
    return Profile(terms, lambda index: own_profiles(made, index.vectors), f"the own profile of user {user}")


@dataclass(frozen=True, eq=False, repr=False)
class Made:
    """A release with all that its owner knows: the secret assignment, its method, and the log if it is there."""

    release: Release
    assignment: Assignment
    claim: Claim
    suppressed: Suppressed
    method: Method
    seed: int | None
    log: QueryLog | None = None
    stored: StoredRelease | None = None  # where it was read from a folder
    blend: Blend | None = None  # what its profiles weigh where they rank, if that was learned
    blocks: Blocks | None = None  # where it was made in blocks of users

    def __repr__(self) -> str:
        settings = ", ".join(f"{name}={value}" for name, value in self.method.settings.items())
        return f"Made({self.method.info.id}({settings}): {counted(len(self.release), 'published profile')})"

    def _repr_html_(self) -> str:
        return self.frame().head(10)._repr_html_()

    def frame(self) -> pl.DataFrame:
        """What everybody may see: a row per published profile, with its users and terms."""
        terms = [", ".join(self.release.profile(row)) for row in range(len(self.release))]
        return pl.DataFrame({"id": self.release.pseudonyms, "users": self.release.users, "terms": terms})

    def profile_of(self, user: str, log: QueryLog | None = None) -> Profile:
        """What is published of a user, and orders that user's results; empty for one who was suppressed."""
        known = self.log if log is None else log
        find_user(user, self.assignment.users if known is None else known.users)
        row = published_row(user, self.release, self.assignment)
        labels = zip(row.indices.tolist(), row.data.tolist(), strict=True)
        terms = {self.release.labels[label]: float(weight) for label, weight in labels}
        name = "the published profile"
        return Profile(terms, lambda index: self._chooser(user, row, known, index), name, self._average)

    def _average(self, index: Index) -> Average | None:
        """What ranks beside the profiles of a release that says what they weigh."""
        if self.blend is None or self.release.catalogue is None:
            return None
        from shoal.evaluation.protocol.blending import average_row

        return Average(average_row(self.release.catalogue, index.vectors), self.blend)

    def blended(self, index: Index, progress: Progress | None = None) -> "Made":
        """The release with what its profiles weigh in the rankings of a corpus, learned on its own log."""
        from shoal.evaluation.protocol.blending import with_blend

        with bar(progress) as told:
            learned = with_blend(self._anonymized(), self.method, self._log(None), index, self.seed or 0, told)
        return replace(self, release=learned.release, blend=learned.blend)

    def _anonymized(self) -> Anonymized:
        return Anonymized(self.release, self.assignment, self.claim, self.suppressed, self.blend, self.blocks)

    def _chooser(self, user: str, row: csr_array, log: QueryLog | None, index: Index) -> Chooser:
        """What the method uses for a search, on a device that knows its own person where the log is there."""
        published = csr_array(row @ _space(self.release, self.method.knowledge, index, self.assignment.key))
        own = csr_array(published.shape)
        if log is not None:
            own = own_profile(log, user, self.method.knowledge).in_space(index)
        device = Device(own, published, SystemRandom())
        return lambda search: self.method.choose(search, device, self.release)

    def verify(self, log: QueryLog | None = None) -> Verdict:
        """Whether the release keeps its promise on what is published, by a verifier that is apart from the method."""
        known = self._log(log)
        if self.stored is not None:
            return verify_stored(self.stored, known)
        known = known if self.blocks is None else ordered(known)
        return verify(
            self.claim, Evidence(self.release, self.assignment, self.suppressed, known, self.method.knowledge)
        )

    def measured(self, log: QueryLog | None = None, **more: Any) -> Any:
        """The release beside its log, for measures and attacks (`evaluation/measures/release.py` has what it takes)."""
        from shoal.evaluation.measures.release import MeasuredRelease

        given: dict[str, Any] = {
            "knowledge": self.method.knowledge,
            "claim": self.claim,
            "suppressed": self.suppressed,
        } | more
        return MeasuredRelease(self.release, self.assignment, self._log(log), method=self.method, **given)

    def measure(self, log: QueryLog | None = None, measures: Iterable[str] = (), **more: Any) -> dict[str, float]:
        """Utility, and attacks on the release, by the names of `shoal measures`; only some if they are named."""
        from shoal.evaluation.measures.registry import columns_named
        from shoal.evaluation.measures.release import measure_release

        wanted = columns_named(measures)
        return measure_release(self.measured(log, **more), wanted)

    def save(self, folder: str | Path, *, force: bool = False) -> Manifest:
        """Write the release into a folder; one that is there already is replaced with `force` only."""
        if self.log is None or self.seed is None:
            raise InputError("only a release that was made here can be saved: copy the folder of one that was loaded")
        refuse_existing(Path(folder), force)
        return write_release(Path(folder), self._anonymized(), self.method, self.log, self.seed)

    def _log(self, given: QueryLog | None) -> QueryLog:
        log = self.log if given is None else given
        if log is None:
            raise InputError("a release holds no log: give the one that it was made from, verify(log)")
        return log


@lru_cache(maxsize=2)  # of many people, one after the other
def _space(release: Release, knowledge: Knowledge, index: Index, key: HashKey | None) -> csr_array:
    return profile_space(release.labels, release.generalized, index.vectors, knowledge, key)


def refuse_existing(folder: Path, force: bool) -> None:
    if (folder / MANIFEST).exists() and not force:
        raise InputError(f"{folder} holds a release already: name another folder, or replace it by --force")


def anonymize(
    log: QueryLog,
    method: str | Method,
    *,
    seed: int | None = None,
    knowledge: Knowledge | None = None,
    progress: Progress | None = None,
    users_per_block: int | None = None,
    **settings: Any,
) -> Made:
    """A release of a log by a method of `shoal methods`, with its parameters by their names.

    The seed is 0 where none is given; of a method whose randomness stays secret, nobody may choose it. With
    `users_per_block` the log is cut into blocks of so many users, each anonymized alone, as a cluster does it.

    >>> made = shoal.anonymize(log, "random", k=2, seed=0)
    >>> made
    Made(random(k=2): 1 published profile)
    >>> made.verify().holds
    True
    """
    chosen = make_method(method, settings, knowledge) if isinstance(method, str) else method
    drawn = chosen.seed_for(seed)
    with bar(progress) as told:
        if users_per_block is None:
            made = chosen.run(log, seed=drawn, progress=told)
        else:
            made = anonymize_in_blocks(chosen, log, users_per_block, seed=drawn, progress=told)
    parts = (made.release, made.assignment, made.claim, made.suppressed)
    return Made(*parts, chosen, drawn, log, blocks=made.blocks)


def load(folder: str | Path, log: QueryLog | None = None, *, knowledge: Knowledge | None = None) -> Made:
    """The release in a folder, checked as one that an adversary may have written; with its log it can be verified.

    >>> manifest = made.save(folder)
    >>> shoal.load(folder).verify(log).holds
    True
    """
    stored = read_release(Path(folder), knowledge)
    manifest = stored.manifest
    method = make_method(manifest.method, manifest.parameters, stored.knowledge)
    made = Made(stored.release, stored.assignment, manifest.claim, manifest.suppressed, method, manifest.seed)
    blend = None if manifest.blend is None else Blend(**manifest.blend)
    return replace(made, log=log, stored=stored, blend=blend)
