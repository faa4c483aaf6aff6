"""What is a measure? A column of the results: its title, formula, direction, range and paper, and its computation.

A measure is declared once, as one object of this module's classes. Tables, plots, the panel, the API, the report, the
documents and the command line read the declaration; none of them knows a column by itself.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np

if TYPE_CHECKING:
    from shoal.evaluation.measures.release import MeasuredRelease

Heading = Literal["precision", "singling out", "linkability", "inference", "utility", "cost"]
Better = Literal["higher", "lower", "neither"]
End = Literal["", "low", "high"]
Unit = Literal["score", "share", "count", "seconds", "megabytes"]
HEADINGS: tuple[Heading, ...] = get_args(Heading)
CLICKS = "_clicks"  # ends the name of a column that is counted against what people clicked
SERVED = "_served"  # ends the name of a measure of the blend that people are served
DEPTH = 10  # ranks that are looked at

# Of a family: the parameter's values whose columns are meant.
Which = bool | tuple[int, ...]


@dataclass(frozen=True, kw_only=True)
class Measure:
    """What people are told of a number, and what programs need to show it.

    A family has a column for each value in `at` of its `parameter`, and {m} stands for the value in its texts.
    """

    name: str  # of its column; of a family, what comes before the parameter's value
    title: str
    says: str  # one sentence
    formula: str  # in words
    heading: Heading
    better: Better  # which way is better for people; of a risk, more private
    low: float | None = None
    high: float | None = None
    unit: Unit = "score"
    paper: str = ""  # empty: of this project
    at: tuple[int, ...] = ()
    parameter: str = "m"
    interval: Which = False  # has a 95 % bootstrap interval over people
    main: Which = False  # stands in the first columns of the results
    headline: Which = False  # is one of the few that a short table shows
    thorough: bool = False  # runs the method once more, so it is taken only where it is asked for by name

    @property
    def range(self) -> str:
        if self.low is None and self.high is None:
            return "any number"
        if self.high is None:
            return f"from {self.low:g}"
        return f"up to {self.high:g}" if self.low is None else f"{self.low:g} to {self.high:g}"

    def inside(self, value: float) -> float:
        """The value, or the end of the range that it is beyond: an interval ends where its measure does."""
        above = value if self.low is None else max(value, self.low)
        return above if self.high is None else min(above, self.high)

    @property
    def module(self) -> str:
        """Where it is computed: by this program, or by another package."""
        return str(getattr(self, "compute", type(self)).__module__)

    @cached_property
    def columns(self) -> tuple["Column", ...]:
        """Its columns in the results."""
        return tuple(column for at in self.at or (None,) for column in self._columns(at))

    def told(self, text: str, at: int | None = None) -> str:
        """A text of the declaration, for one value of the parameter or for any."""
        return text.replace(f"{{{self.parameter}}}", self.parameter if at is None else str(at))

    @property
    def truths(self) -> tuple[bool, ...]:
        """Whether it is counted against the own profile (False), against clicks (True), or both."""
        return (False,)

    def _columns(self, at: int | None) -> list["Column"]:
        ends: tuple[End, ...] = ("", "low", "high") if _has(self.interval, at) else ("",)
        return [Column(self, at, end, clicks) for clicks in self.truths for end in ends]


@dataclass(frozen=True)
class Column:
    """A column of the results: the value of a measure, or an end of its interval."""

    measure: Measure
    at: int | None = None
    end: End = ""
    clicks: bool = False

    @property
    def name(self) -> str:
        at = "" if self.at is None else str(self.at)
        return f"{self.measure.name}{at}{CLICKS if self.clicks else ''}{'_' + self.end if self.end else ''}"

    @property
    def title(self) -> str:
        title = self.measure.told(self.measure.title, self.at) + (" (clicks)" if self.clicks else "")
        return f"{title}, {self.end} end" if self.end else title

    @property
    def short(self) -> str:
        """As papers write it: linkage@5."""
        return self.title if self.at is None else f"{self.measure.name.rstrip('_')}@{self.at}"

    @property
    def says(self) -> str:
        said = self.measure.told(self.measure.says, self.at)
        if self.clicks:
            said = f"{said.rstrip('.')}; relevant is what the person clicked."
        return f"The {self.end} end of the 95 % bootstrap interval over people. {said}" if self.end else said

    def written(self, value: float) -> str:
        """A value for people."""
        match self.measure.unit:
            case "share":
                return f"{100 * value:.1f} %"
            case "count":
                return f"{value:,.0f}" if value == int(value) else f"{value:.3g}"
            case "seconds":
                return f"{value:.2f}"
            case "megabytes":
                return f"{value:,.0f}"
        return f"{value:.3f}"

    @property
    def is_main(self) -> bool:
        """The design's columns hold the interval of AP@10 alone; other intervals stand behind."""
        if self.clicks or (self.end and not isinstance(self.measure, RankingMeasure)):
            return False
        return _has(self.measure.main, self.at)

    @property
    def is_headline(self) -> bool:
        return _has(self.measure.headline, self.at)


@dataclass(frozen=True, kw_only=True)
class ReleaseMeasure(Measure):
    """A number of what is published, alone. `compute` gives None where it does not apply; a family's takes m, too.

    It may give one number per victim instead: the results then hold their mean and, with `interval`, its interval.
    """

    compute: Callable[..., float | np.ndarray | None]  # of a MeasuredRelease

    def of(self, release: "MeasuredRelease", at: int | None) -> float | np.ndarray | None:
        return self.compute(release) if at is None else self.compute(release, at)


@dataclass(frozen=True, eq=False)
class Rankings:
    """Where the relevant documents stand: row q tells for each rank, best first, whether the one there is relevant."""

    relevant: np.ndarray  # bool, rankings x ranks
    total: np.ndarray  # relevant documents of each, among the ranked ones or not

    @cached_property
    def top(self) -> np.ndarray:
        """The first ten ranks as numbers, of shorter rankings filled with zeros."""
        top = self.relevant[:, :DEPTH].astype(float)
        return np.pad(top, ((0, 0), (0, DEPTH - top.shape[1]))) if top.shape[1] < DEPTH else top

    @property
    def possible(self) -> np.ndarray:
        """How many relevant documents the first ten ranks could hold."""
        return np.minimum(self.total, DEPTH)


@dataclass(frozen=True, kw_only=True)
class RankingMeasure(Measure):
    """One number per ranking; the results hold the mean over people of each person's mean, with its interval.

    Where the log has clicks, it is computed against those as well.
    """

    compute: Callable[[Rankings], np.ndarray]
    heading: Heading = "precision"

    @property
    def truths(self) -> tuple[bool, ...]:
        return (False, True)


@dataclass(frozen=True, kw_only=True)
class BlendMeasure(Measure):
    """One number per ranking as people are served it: the profile beside everyone's average and the engine's order."""

    compute: Callable[[Rankings], np.ndarray]
    heading: Heading = "precision"


@dataclass(frozen=True, eq=False)
class Served:
    """How a setting served people, in the mean: a number each, or an array of them over the bootstrap's resamples."""

    scores: Mapping[str, Any]  # by the name of the ranking measure
    floor: Any  # AP@10 of what needs no personal data, from which what is kept is counted
    people: int
    queries: int


@dataclass(frozen=True, kw_only=True)
class ServedMeasure(Measure):
    """A number of how people were served by a setting, made from their mean scores, of arrays element by element."""

    compute: Callable[[Served], Any]
    heading: Heading = "precision"
    by_clicks: bool = False  # has a meaning against clicks, too
    of_blend: bool = False  # is made from the scores of the blend

    @property
    def truths(self) -> tuple[bool, ...]:
        return (False, True) if self.by_clicks else (False,)


@dataclass(frozen=True)
class Cost:
    """What making a release took."""

    seconds: float
    peak_mb: float


@dataclass(frozen=True, kw_only=True)
class CostMeasure(Measure):
    """What a setting costs; it differs from run to run."""

    compute: Callable[[Cost], float]
    heading: Heading = "cost"


def _has(which: Which, at: int | None) -> bool:
    return which if isinstance(which, bool) else at in which
