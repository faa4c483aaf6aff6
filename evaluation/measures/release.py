"""What does a release cost and protect? Every measure that needs no search, for any release, by the same code."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, TypeVar

import numpy as np
from scipy.sparse import csr_array

from shoal.anonymizer.base import Assignment, Claim, Method, Release, Suppressed
from shoal.corpus.knowledge import Knowledge
from shoal.corpus.profiles import Profiles, build_profiles
from shoal.corpus.progress import Progress, silent
from shoal.corpus.querylog import QueryLog
from shoal.evaluation.attacks.inversion import invert, read_by
from shoal.evaluation.attacks.linkage import Linkage, link
from shoal.evaluation.attacks.spoken import Overheard, replay
from shoal.evaluation.attacks.victims import KNOWN, Victims, choose_victims
from shoal.evaluation.attacks.view import PublishedView
from shoal.evaluation.measures.base import Column, CostMeasure, ReleaseMeasure
from shoal.evaluation.measures.occurrences import NEAR, Standing, stand
from shoal.evaluation.measures.registry import columns, columns_named, measures_of
from shoal.evaluation.statistics import intervals

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
    method: Method | None = None  # for the measures that run it once more
    progress: Progress = silent
    heard: Overheard | None = None  # what devices said at searches, where they choose from menus
    _made: dict[Any, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Hashed labels are measured as the searching server reads them; attackers read what they can (`view`)."""
        if (key := self.assignment.key) is not None:
            self._made["published"] = self.release
            words = {key.hashed(term): term for term in self.profiles.terms}
            labels = [words.get(label, label) for label in self.release.labels]
            object.__setattr__(self, "release", replace(self.release, labels=labels))

    @cached_property
    def profiles(self) -> Profiles:
        return build_profiles(self.log, self.knowledge.words)

    @cached_property
    def victims(self) -> Victims:
        chosen = choose_victims(self.profiles, self.most_victims, self.seed)
        if self.assignment.key is None:
            return chosen
        return replace(chosen, user=np.setdiff1d(chosen.user, self.reference_users))

    @cached_property
    def reference_users(self) -> np.ndarray:
        """Half of the users, whose other log an attacker has who wants to read hashes. None of them is a victim."""
        return np.sort(np.random.default_rng(self.seed).permutation(len(self.log.users))[: len(self.log.users) // 2])

    @cached_property
    def view(self) -> PublishedView:
        if self.assignment.key is None:
            return PublishedView(self.release, self.knowledge)
        other = self.log if self.later_log is None else self.later_log
        reference = build_profiles(other.for_users(self.reference_users), self.knowledge.words)
        published = self._made["published"]
        return PublishedView(read_by(published, invert(published, reference)), self.knowledge)

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

    def replayed(self, m: int) -> np.ndarray | None:
        """The chance of each victim to be named by who replays devices with m known terms; None where none chose."""
        found = self.once(_replayed)
        return None if found is None else found[m]

    def once(self, make: Callable[..., T], *given: object) -> T:
        """What `make(self, *given)` gives, made when first asked for and kept for other measures of this release."""
        if (make, given) not in self._made:
            self._made[make, given] = make(self, *given)
        return self._made[make, given]


def _known(measured: MeasuredRelease, m: int) -> csr_array:
    return measured.victims.known(m)


def _linked(measured: MeasuredRelease, m: int) -> Linkage:
    return link(measured.view, measured.assignment, measured.victims, measured.known(m), progress=measured.progress)


def _replayed(measured: MeasuredRelease) -> dict[int, np.ndarray] | None:
    """For all that may be known at once: to make the menus again takes about as long as to guess by them."""
    if measured.heard is None or not len(measured.victims):
        return None
    known = [measured.known(m) for m in KNOWN]
    return dict(zip(KNOWN, replay(measured.heard, measured.victims, known, measured.progress), strict=True))


@dataclass(frozen=True, eq=False)
class Measurements:
    """The measures of a release by the names of their columns; of some, the values of each victim."""

    values: dict[str, float]
    of_victims: dict[str, np.ndarray]
    victims: np.ndarray  # rows of the users of the log


def take_measures(measured: MeasuredRelease, wanted: Iterable[str] = ()) -> Measurements:
    """All measures that do not run the method once more, or those wanted. One that does not apply is absent."""
    names = set(wanted) or set(columns_named(["all"]))
    values: dict[str, float] = {}
    of_victims: dict[str, np.ndarray] = {}
    for measure in measures_of(ReleaseMeasure):
        for at in dict.fromkeys(column.at for column in measure.columns if column.name in names):
            found = measure.of(measured, at)
            if isinstance(found, np.ndarray):
                of_victims[Column(measure, at).name] = found
                found = float(found.mean())
            if found is not None:
                values[Column(measure, at).name] = found
    return Measurements(values, of_victims, measured.victims.user)


def measure_release(measured: MeasuredRelease, wanted: Iterable[str] = ()) -> dict[str, float]:
    """The measures of a release by the names of the columns of results.csv, with intervals where they have any."""
    taken = take_measures(measured, wanted)
    found = dict(taken.values)
    if with_interval := [name for name in taken.of_victims if f"{name}_low" in columns()]:
        bounds = intervals(np.stack([taken.of_victims[name] for name in with_interval]), seed=measured.seed)
        for name, (low, high) in zip(with_interval, bounds, strict=True):
            ends = (columns()[name].measure.inside(float(end)) for end in (low, high))
            found |= dict(zip((f"{name}_low", f"{name}_high"), ends, strict=True))
    return {name: found[name] for name in columns() if name in found}


seconds = CostMeasure(
    name="seconds",
    title="Seconds",
    says="Time to make the release.",
    formula="wall time of the method alone, loaded and compiled before",
    better="lower",
    low=0,
    unit="seconds",
    main=True,
    headline=True,
    compute=lambda cost: cost.seconds,
)
peak_mb = CostMeasure(
    name="peak_mb",
    title="Peak memory, MB",
    says="Most memory that the process held while it made the release.",
    formula="largest resident memory of the process while the method runs, in megabytes",
    better="lower",
    low=0,
    unit="megabytes",
    main=True,
    compute=lambda cost: cost.peak_mb,
)
