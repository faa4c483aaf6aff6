"""Does what was published keep its promise? One verifier per claim, sharing no code with the methods."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from importlib import import_module
from pkgutil import iter_modules
from typing import Literal

import numpy as np

from shoal.anonymizer.base import Assignment, Claim, Release, Suppressed
from shoal.anonymizer.parameters import Range, Value
from shoal.anonymizer.registry import of_other_packages
from shoal.corpus.errors import InputError
from shoal.corpus.knowledge import Knowledge
from shoal.corpus.profiles import Profiles, build_profiles
from shoal.corpus.querylog import QueryLog

ENTRY_POINTS = "shoal.claims"


@dataclass(frozen=True)
class Verdict:
    """Whether a claim holds on what was published, and if not, one thing that shows it.

    The sentence says what was checked, and the verifier wrote it from the values that it checked. What a check adds to
    it says where it looked less closely.
    """

    holds: bool
    counterexample: str = ""
    sentence: str = ""


HOLDS = Verdict(True)


def broken(counterexample: str) -> Verdict:
    return Verdict(False, counterexample)


@dataclass(frozen=True, eq=False)
class Evidence:
    """All that a verifier may look at: what was published, the secret table, and the log it was made from."""

    release: Release
    assignment: Assignment
    suppressed: Suppressed
    log: QueryLog
    knowledge: Knowledge

    @cached_property
    def profiles(self) -> Profiles:
        return build_profiles(self.log, self.knowledge.words)

    @cached_property
    def owner(self) -> np.ndarray:
        """The user of the log behind each pseudonym, where nobody shares one."""
        user = np.empty(len(self.release), dtype=np.int64)
        user[self.assignment.profile] = self.assignment.rows_for(self.log.users)
        return user


Values = Mapping[str, Value]
Unit = Literal["user", "session", "query", "log"]


@dataclass(frozen=True)
class Verifier:
    """A claim, declared once: what it is about, its values, its sentence, and how it is re-checked."""

    id: str
    unit: Unit  # what the claim is about; a user has one profile unless it is sessions
    check: Callable[[Claim, Evidence], Verdict]  # its values are of their types and ranges already
    sentence: Callable[[Values], str]
    values: Mapping[str, Range[Value]] = field(default_factory=dict)
    files: tuple[str, ...] = ()  # public ones that such a release has besides profiles and manifest
    keyed: bool = False  # whether a secret key lies beside the assignment
    by_topic: bool = False  # whether it rests on the topic directory
    reads: Callable[[Release, Values], Release] | None = None  # what its queries tell, where they are not plain

    def verify(self, claim: Claim, evidence: Evidence) -> Verdict:
        """Check that the values are allowed, that the release is whole, and that the claim holds."""
        said = self.said(claim)
        whole = check_integrity(self.unit, evidence)
        verdict = self.check(claim, evidence) if whole.holds else whole
        return replace(verdict, sentence=f"{said} {verdict.sentence}".strip())

    def said(self, claim: Claim) -> str:
        """The sentence of a claim whose values are complete, known, and of their types and ranges."""
        for name in claim.values:
            if name not in self.values:
                raise InputError(f"the claim {self.id} has no value {name!r}: {_REMADE}")
        for name, allowed in self.values.items():
            if name not in claim.values:
                raise InputError(f"the claim {self.id} says nothing of {name!r}: {_REMADE}")
            if not allowed.holds(claim.values[name]):
                given = f"{name}={claim.values[name]!r}"
                raise InputError(f"the claim {self.id} says {given}, expected a {allowed}: {_REMADE}")
        return self.sentence(claim.values)


_REMADE = "make the release again"


def verify(claim: Claim, evidence: Evidence) -> Verdict:
    """Check that the release is whole and then that its claim holds."""
    return find_verifier(claim.id).verify(claim, evidence)


def sentence(claim: Claim) -> str:
    """What a claim says, in the words of its verifier. It is not checked by that."""
    return find_verifier(claim.id).said(claim)


def find_verifier(claim: str) -> Verifier:
    table = verifiers()
    if claim not in table:
        raise InputError(f"no verifier for the claim {claim!r}: known are {', '.join(sorted(table))}")
    return table[claim]


@lru_cache(maxsize=1)
def verifiers() -> dict[str, Verifier]:
    """Verifiers by claim id. Each module here lists its own in VERIFIERS; other packages add theirs by entry points."""
    modules = [import_module(f"{__name__}.{module.name}") for module in iter_modules(__path__)]
    found = [verifier for module in modules for verifier in getattr(module, "VERIFIERS", ())]
    return collect([*found, *of_other_packages(ENTRY_POINTS, "verifier")])


def collect(found: Iterable[Verifier]) -> dict[str, Verifier]:
    """Verifiers by the id of their claim. Two for one, or something that is no verifier, is an error."""
    table: dict[str, Verifier] = {}
    for verifier in found:
        if not isinstance(verifier, Verifier):
            raise InputError(f"{verifier!r} is registered as a verifier but is no anonymizer.claims.Verifier")
        if verifier.id in table:
            modules = f"{table[verifier.id].check.__module__} and {verifier.check.__module__}"
            raise InputError(f"two verifiers for the claim {verifier.id!r}: {modules}")
        table[verifier.id] = verifier
    return table


def check_integrity(unit: Unit, evidence: Evidence) -> Verdict:
    """What holds for every release, whatever its claim: counts, names and members fit together."""
    for check in (
        _members_are_users_of_the_log, _one_profile_per_user, _shares_are_counted, _nobody_is_forgotten,
        _weights_are_positive,
    ):  # fmt: skip
        verdict = check(unit, evidence)
        if not verdict.holds:
            return verdict
    return HOLDS


def _members_are_users_of_the_log(unit: Unit, evidence: Evidence) -> Verdict:
    known = set(evidence.log.users.to_list())
    for name in evidence.assignment.users.to_list():
        if name not in known:
            return broken(f"the assignment names a user {name!r} that the log does not have")
    return HOLDS


def _one_profile_per_user(unit: Unit, evidence: Evidence) -> Verdict:
    if unit == "session":
        return HOLDS
    counts = np.bincount(evidence.assignment.user, minlength=len(evidence.assignment.users))
    twice = np.flatnonzero(counts > 1)
    if len(twice):
        return broken(f"user {evidence.assignment.users[int(twice[0])]!r} is in {counts[twice[0]]} groups")
    return HOLDS


def _shares_are_counted(unit: Unit, evidence: Evidence) -> Verdict:
    release, assignment = evidence.release, evidence.assignment
    pairs = np.unique(np.stack([assignment.profile, assignment.user]), axis=1)
    members = np.bincount(pairs[0], minlength=len(release))
    wrong = np.flatnonzero(members != release.users)
    if len(wrong):
        row = int(wrong[0])
        said = f"{release.pseudonyms[row]} says that {release.users[row]} users share it"
        return broken(f"{said}, but {members[row]} are assigned to it")
    return HOLDS


def _nobody_is_forgotten(unit: Unit, evidence: Evidence) -> Verdict:
    assigned = len(np.unique(evidence.assignment.user))
    missing = len(evidence.log.users) - assigned
    if missing != evidence.suppressed.users:
        return broken(
            f"{missing} users of the log have no profile, but the manifest counts {evidence.suppressed.users}"
        )
    return HOLDS


def _weights_are_positive(unit: Unit, evidence: Evidence) -> Verdict:
    """A weight of 0, or one that is no number, would slip through every comparison that follows."""
    weights = evidence.release.weights
    wrong = np.flatnonzero(~(np.isfinite(weights.data) & (weights.data > 0)))
    if len(wrong):
        row = int(np.searchsorted(weights.indptr, wrong[0], side="right")) - 1
        label = evidence.release.labels[int(weights.indices[wrong[0]])]
        return broken(f"{evidence.release.pseudonyms[row]} publishes {label!r} with weight {weights.data[wrong[0]]}")
    return HOLDS
