"""What is a method, and what does it give? The types between a log, what is published of it, and whom that serves."""

import secrets
from abc import ABC, abstractmethod
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, ClassVar, Literal

import numpy as np
import polars as pl
from scipy.sparse import csr_array, vstack

from shoal.anonymizer.parameters import Parameter, Parameters, Value, check_settings
from shoal.corpus.errors import InputError
from shoal.corpus.knowledge import Knowledge
from shoal.corpus.knowledge.taxonomy import bag_members, is_bag
from shoal.corpus.profiles import Profiles, build_profiles
from shoal.corpus.progress import Progress, silent
from shoal.corpus.querylog import QueryLog
from shoal.corpus.searches import Blend, Device, Search
from shoal.corpus.tokens import HashKey

Family = Literal["group", "generalize", "suppress", "hash", "split", "noise", "device", "none"]
FAMILIES: dict[Family, str] = {
    "group": "many people share one profile",
    "generalize": "terms become broader ones",
    "suppress": "what too few people have is left out",
    "hash": "terms or queries are made unreadable",
    "split": "a person's topics get pseudonyms that nothing links",
    "noise": "counts are published with noise",
    "device": "the own profile stays on the own device",
    "none": "nothing is changed, or nothing published",
}


@dataclass(frozen=True)
class MethodInfo:
    """What people are told of a method, and what programs need to offer it."""

    id: str
    title: str
    paper: str  # authors, year, title; empty for a control
    unit: Literal["user", "query", "log"]
    family: Family  # what is mainly done to what people typed
    protects: str  # one sentence
    does_not_protect: str  # one sentence
    randomness: Literal["public", "secret"] = "public"  # secret: whoever knew the seed could undo it
    sensitive: bool = False  # whether it must be told which terms are private
    # In blocks of users: "blocks", each alone; "counts", with what is counted over all; else why it has no meaning.
    cluster: str = "it does not say that what it promises holds then"
    most_users: int | None = None  # that it takes, made and verified, within 15 minutes and 12 GB
    parameters: Parameters = ()  # those that the class declares as its attributes


QUERIES = "queries.tsv"  # the public file of released queries
CATALOGUE = "catalogue.tsv"  # that of the terms of many users


@dataclass(frozen=True, eq=False)
class ReleasedQueries:
    """What a query method publishes: each row is a query of a pseudonym."""

    pseudonym: np.ndarray  # int32: positions in Release.pseudonyms
    query: pl.Series
    count: np.ndarray  # int64: how often it was asked under that pseudonym
    degree: np.ndarray  # int64: its anonymity degree


@dataclass(frozen=True, eq=False)
class Catalogue:
    """What is published where no row is anybody's: terms that many users hold."""

    terms: list[str]
    users: np.ndarray  # int64: how many hold each
    mean: np.ndarray  # of their counts, over all users who have a profile


@dataclass(frozen=True, eq=False)
class Release:
    """What everybody may see: the profile of each pseudonym. No user id, ever.

    A label is a term, or a generalized one (a taxonomy label, or a bag a|b|c) that stands for several terms.
    """

    pseudonyms: list[str]
    users: np.ndarray  # int64: how many users share each profile
    labels: list[str]
    generalized: np.ndarray  # bool per label
    weights: csr_array  # pseudonyms x labels
    queries: ReleasedQueries | None = None
    catalogue: Catalogue | None = None
    shares: ReleasedQueries | None = None  # what is published instead of queries, which are what they tell together

    def __len__(self) -> int:
        return len(self.pseudonyms)

    @cached_property
    def bags(self) -> dict[int, list[str]]:
        """The labels that are bags, by their number, and the terms of each."""
        general = np.flatnonzero(self.generalized).tolist()
        return {i: bag_members(self.labels[i]) for i in general if is_bag(self.labels[i])}

    @cached_property
    def nodes(self) -> dict[int, str]:
        """The labels that are nodes of the taxonomy, by their number."""
        return {i: self.labels[i] for i in np.flatnonzero(self.generalized).tolist() if i not in self.bags}

    def profile(self, row: int) -> dict[str, float]:
        part = slice(self.weights.indptr[row], self.weights.indptr[row + 1])
        return {
            self.labels[t]: float(w) for t, w in zip(self.weights.indices[part], self.weights.data[part], strict=True)
        }


@dataclass(frozen=True, eq=False)
class Assignment:
    """The secret half: which user has which pseudonym. A user may have several (sessions) or none (suppressed)."""

    users: pl.Series  # names
    user: np.ndarray  # int32: positions in users
    profile: np.ndarray  # int32: positions in Release.pseudonyms
    key: HashKey | None = None  # under which the labels of the release are hashed

    def rows_for(self, users: pl.Series) -> np.ndarray:
        """Where among these names the user of each pair stands; all of them must be there."""
        rows = self.rows_among(users)
        if (rows < 0).any():
            unknown = self.users[int(self.user[np.argmin(rows)])]
            raise InputError(
                f"the release is of a user {unknown!r} whom the log does not hold: give the log it was made from"
            )
        return rows

    def rows_among(self, users: pl.Series) -> np.ndarray:
        """Where among these names the user of each pair stands, or -1."""
        return find_names(self.users, users)[self.user]

    def pairs(self, profiles: int) -> csr_array:
        """Users x profiles, 1 where a user has a profile."""
        ones = np.ones(len(self.user))
        return csr_array((ones, (self.user, self.profile)), shape=(len(self.users), profiles))


def find_names(names: pl.Series, among: pl.Series) -> np.ndarray:
    """Where each name stands among others, or -1."""
    if not len(names) or not len(among):
        return np.full(len(names), -1)
    if names.equals(among):  # mostly both are the users of one log
        return np.arange(len(among), dtype=np.int64)
    place = np.arange(len(among), dtype=np.int64)
    found = names.cast(pl.String).replace_strict(among.cast(pl.String), place, default=-1, return_dtype=pl.Int64)
    return found.to_numpy()


@dataclass(frozen=True)
class Suppressed:
    """What was left out: term occurrences (queries, where queries are published) and users left with nothing."""

    occurrences: int = 0
    users: int = 0


@dataclass(frozen=True)
class Claim:
    """What a release promises, as data. A verifier in anonymizer.claims re-checks it, and alone puts it into words."""

    id: str
    values: dict[str, Value] = field(default_factory=dict)


@dataclass(frozen=True)
class Blocks:
    """The log of a release that was made in blocks of users, as far as the manifest names it."""

    size: int  # users of a block, as they were asked for
    users: int  # of all blocks
    digest: str


@dataclass(frozen=True, eq=False)
class Anonymized:
    release: Release
    assignment: Assignment
    claim: Claim
    suppressed: Suppressed
    blend: Blend | None = None  # what its profiles weigh beside the average that its catalogue holds
    blocks: Blocks | None = None  # where it was made in blocks


class Method(ABC):
    """A way to anonymize: settings are stored and checked here, the work is in `anonymize`.

    Derive from ProfileMethod or LogMethod.

    A subclass declares `info`, and each parameter once, as an attribute such as `k = group_size()`, of which `self.k`
    is the value.
    """

    info: ClassVar[MethodInfo]
    knowledge: Knowledge
    settings: dict[str, Value]

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        info = vars(cls).get("info")
        if isinstance(info, MethodInfo) and not info.parameters:
            cls.info = replace(info, parameters=tuple(declared_parameters(cls).values()))

    def __init__(self, knowledge: Knowledge | None = None, **settings: object) -> None:
        self.knowledge = knowledge or Knowledge()
        self.settings = check_settings(self.info.id, self.info.parameters, settings)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(f'{name}={value!r}' for name, value in self.settings.items())})"

    @abstractmethod
    def claim(self) -> Claim:
        """What a release made with these settings promises. It follows from the settings alone."""

    @abstractmethod
    def run(
        self, log: QueryLog, *, profiles: Profiles | None = None, seed: int = 0, progress: Progress = silent
    ) -> Anonymized:
        """What is published of a log. `profiles` are those of the log, where they were made already."""

    def after(self, previous: Assignment) -> "Method":
        """This method, keeping together who was together in an earlier release, where it can."""
        raise InputError(f"{self.info.id} makes every release anew and keeps no groups: leave --previous away")

    def seed_for(self, given: int | None) -> int:
        """The seed of a release that is published: the given one or 0, and one that nobody knows where it is secret."""
        if self.info.randomness == "public":
            return given or 0
        if given is not None:
            raise InputError(f"the randomness of {self.info.id} stays secret: leave the seed away, one is drawn")
        return secrets.randbits(256)

    def choose(self, search: Search, device: Device, release: Release) -> csr_array:
        """What re-ranks this search: a row over the word forms of the documents, empty where it is not personal.

        It may depend on the query and its candidates, on all that the person's device knows, and on what is published;
        evaluation, API, command line and page ask nothing else. By default it is the published profile. A method that
        answers otherwise decides here, in the roles of both sides, what the device tells the server: what the server
        may see is made from `search` and `release` alone, and all randomness is drawn from `device.random`.
        """
        return device.published

    def need_users(self, available: int, needed: int) -> None:
        """Refuse a log that cannot fill one group."""
        if available < needed:
            raise InputError(
                f"{self.info.id} needs at least {needed} users with a profile, the log has {available}: "
                "lower k or bring a larger log"
            )

    def refuse_too_many(self, number: int, what: str = "users") -> None:
        """Refuse, before any work is done, a log that would take more than 15 minutes or 12 GB."""
        most = self.info.most_users
        if most is not None and number > most:
            some = "anonymize some at a time (--block 20000), or " if self.info.cluster in ("blocks", "counts") else ""
            raise InputError(
                f"{self.info.id} takes at most {most:,} {what}, more need above 15 minutes or 12 GB; the log has "
                f"{number:,}: {some}take another method"
            )


def declared_parameters(method: type[Method]) -> dict[str, Parameter[Value]]:
    """The parameters of a method by attribute, in the order of their declaration, those of its bases first."""
    names = dict.fromkeys(name for base in reversed(method.__mro__) for name in vars(base))
    found = {name: getattr(method, name) for name in names if hasattr(method, name)}
    return {name: thing for name, thing in found.items() if isinstance(thing, Parameter)}


class ProfileMethod(Method):
    """A method that sees the profiles of the users, and not the log they come from."""

    @abstractmethod
    def anonymize(self, profiles: Profiles, *, seed: int = 0, progress: Progress = silent) -> Anonymized:
        """What is published of the profiles, who is behind it, and what is promised."""

    def run(
        self, log: QueryLog, *, profiles: Profiles | None = None, seed: int = 0, progress: Progress = silent
    ) -> Anonymized:
        self.refuse_too_many(len(log.users))
        made = build_profiles(log, self.knowledge.words) if profiles is None else profiles
        return self.anonymize(made, seed=seed, progress=progress)


class LogMethod(Method):
    """A method that sees the log itself: its queries, and when they were asked."""

    @abstractmethod
    def anonymize(self, log: QueryLog, *, seed: int = 0, progress: Progress = silent) -> Anonymized:
        """What is published of the log, who is behind it, and what is promised."""

    def run(
        self, log: QueryLog, *, profiles: Profiles | None = None, seed: int = 0, progress: Progress = silent
    ) -> Anonymized:
        self.refuse_too_many(len(log.users))
        return self.anonymize(log, seed=seed, progress=progress)


def mean_profile(release: Release, profiles: np.ndarray) -> csr_array:
    """One published profile, or the mean of several, or an empty one for none: a row over the labels."""
    share = csr_array(np.full((1, len(profiles)), 1 / max(len(profiles), 1)))
    return csr_array(share @ release.weights[profiles])


def profile_of(user: str, release: Release, assignment: Assignment) -> csr_array:
    """What is published of one user; empty for one who was suppressed."""
    place = assignment.users.index_of(user)
    return mean_profile(release, assignment.profile[assignment.user == (-1 if place is None else place)])


def profiles_of(users: pl.Series, release: Release, assignment: Assignment) -> tuple[csr_array, np.ndarray]:
    """The same for all users at once: rows over the labels, and the row of each user."""
    holder = assignment.rows_for(users)
    many = np.bincount(holder, minlength=len(users))
    if many.max(initial=0) <= 1:
        row_of = np.full(len(users), len(release))
        row_of[holder] = assignment.profile
        empty = csr_array((1, len(release.labels)))
        return csr_array(vstack([release.weights, empty], format="csr")), row_of
    share = csr_array((1 / many[holder], (holder, assignment.profile)), shape=(len(users), len(release)))
    return csr_array(share @ release.weights), np.arange(len(users))
