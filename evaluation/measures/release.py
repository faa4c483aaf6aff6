"""What does a release cost and protect? Every measure that needs no search, for any release, by the same code."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, TypeVar

from scipy.sparse import csr_array

from shoal.anonymizer.base import Assignment, Claim, Release, Suppressed
from shoal.corpus.knowledge import Knowledge
from shoal.corpus.profiles import Profiles, build_profiles
from shoal.corpus.progress import Progress, silent
from shoal.corpus.querylog import QueryLog
from shoal.evaluation.attacks.linkage import Linkage, link
from shoal.evaluation.attacks.victims import Victims, choose_victims
from shoal.evaluation.attacks.view import PublishedView
from shoal.evaluation.measures.base import ReleaseMeasure
from shoal.evaluation.measures.occurrences import NEAR, Standing, stand
from shoal.evaluation.measures.registry import columns, columns_of, measures_of

T = TypeVar("T")


@dataclass(frozen=True, eq=False)
class MeasuredRelease:
    """A release beside the log it was made from, with what several measures need, made once when first asked for."""

    release: Release
    assignment: Assignment
    log: QueryLog
    knowledge: Knowledge
    seed: int = 0
    most_victims: int = 1000
    claim: Claim | None = None  # what the release promises
    suppressed: Suppressed | None = None  # what the method says it left out
    later_log: QueryLog | None = None  # what the same users asked later
    progress: Progress = silent
    _made: dict[Any, Any] = field(default_factory=dict)

    @cached_property
    def profiles(self) -> Profiles:
        return build_profiles(self.log, self.knowledge.words)

    @cached_property
    def victims(self) -> Victims:
        return choose_victims(self.profiles, self.most_victims, self.seed)

    @cached_property
    def view(self) -> PublishedView:
        return PublishedView(self.release, self.knowledge)

    @cached_property
    def standing(self) -> Standing:
        """What became of each occurrence of each term."""
        said = self.claim.values.get("epsilon") if self.claim is not None else None
        epsilon = said if isinstance(said, int) else NEAR
        return stand(self.release, self.assignment, self.profiles, self.knowledge, self.progress, epsilon)

    def known(self, m: int) -> csr_array:
        """Victims x terms: the m terms of each victim that the attacker knows."""
        return self.once(_known, m)

    def linked(self, m: int) -> Linkage:
        """Whom the attacker names who knows m terms of each victim."""
        return self.once(_linked, m)

    def once(self, make: Callable[..., T], *given: object) -> T:
        """What `make(self, *given)` gives, made when first asked for and kept for other measures of this release."""
        if (make, given) not in self._made:
            self._made[make, given] = make(self, *given)
        return self._made[make, given]


def _known(measured: MeasuredRelease, m: int) -> csr_array:
    return measured.victims.known(m)


def _linked(measured: MeasuredRelease, m: int) -> Linkage:
    return link(measured.view, measured.assignment, measured.victims, measured.known(m), progress=measured.progress)


def measure_release(measured: MeasuredRelease, wanted: Iterable[str] = ()) -> dict[str, float]:
    """The measures of a release by the names of the columns of results.csv: all, or those wanted.

    One that does not apply is absent.
    """
    names = set(wanted) or set(columns_of(ReleaseMeasure))
    found: dict[str, float] = {}
    for measure in measures_of(ReleaseMeasure):
        for column in measure.columns:
            value = measure.value(measured, column.at) if column.name in names else None
            if value is not None:
                found[column.name] = value
    return {name: found[name] for name in columns() if name in found}
