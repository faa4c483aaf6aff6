"""Does what was published keep its promise? One verifier per claim, sharing no code with the methods."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from importlib import import_module
from importlib.metadata import entry_points
from pkgutil import iter_modules

from shoal.anonymizer.base import Assignment, Claim, Release, Suppressed
from shoal.anonymizer.parameters import Value
from shoal.corpus.errors import InputError
from shoal.corpus.knowledge import Knowledge
from shoal.corpus.profiles import Profiles, build_profiles
from shoal.corpus.querylog import QueryLog

ENTRY_POINTS = "shoal.claims"


@dataclass(frozen=True)
class Verdict:
    """Whether a claim holds on what was published, and if not, one thing that shows it."""

    holds: bool
    counterexample: str = ""


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


Verifier = Callable[[Claim, Evidence], Verdict]


def verify(claim: Claim, evidence: Evidence) -> Verdict:
    """Check that the release is whole and then that its claim holds."""
    from shoal.anonymizer.claims.integrity import check_integrity

    table = verifiers()
    if claim.id not in table:
        raise InputError(f"no verifier for the claim {claim.id!r}: known are {', '.join(sorted(table))}")
    whole = check_integrity(claim, evidence)
    return table[claim.id](replace(claim, values=_Said(claim.values)), evidence) if whole.holds else whole


class _Said(dict[str, Value]):
    """The values of a claim; one that is missing is the fault of whoever wrote the manifest."""

    def __missing__(self, name: str) -> Value:
        raise InputError(f"the claim says nothing of {name!r}: make the release again")


@lru_cache(maxsize=1)
def verifiers() -> dict[str, Verifier]:
    """Verifiers by claim id. Each module here lists its own in VERIFIERS; other packages add theirs by entry points."""
    modules = [import_module(f"{__name__}.{module.name}") for module in iter_modules(__path__)]
    found = [item for module in modules for item in getattr(module, "VERIFIERS", {}).items()]
    found += [(point.name, point.load()) for point in entry_points(group=ENTRY_POINTS)]
    table: dict[str, Verifier] = {}
    for id, verifier in found:
        if id in table:
            raise InputError(f"two verifiers for the claim {id!r}: {table[id].__module__} and {verifier.__module__}")
        table[id] = verifier
    return table
