"""What did the papers draw, and in which set-up? Their figures as data: what each shows, claims, and needs."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from shoal.evaluation.experiment.settings import Setting, parse_methods


class Point(NamedTuple):
    """A point of a curve, with its 95 % interval; both ends are y where there is none."""

    x: float
    y: float
    low: float
    high: float


Curves = dict[str, list[Point]]  # by the label of the line, x ascending
Panels = dict[str, Curves]  # by the title of the set-up


@dataclass(frozen=True)
class Part:
    """A part of a paper's claim: what it says, whether each place that it speaks of shows it, and our numbers."""

    says: str
    shown: tuple[bool | None, ...]  # None where the intervals do not let one tell
    told: str

    @property
    def seen(self) -> bool | None:
        """At every place; not, where one shows the contrary; else it cannot be told, as where there is no place."""
        if False in self.shown:
            return False
        return None if None in self.shown or not self.shown else True


@dataclass(frozen=True)
class Line:
    """A curve of a figure: the settings of a method that differ in the figure's x alone, and the column drawn."""

    label: str
    method: str
    column: str
    fixed: dict[str, str] = field(default_factory=dict)  # parameters that are not at their defaults


@dataclass(frozen=True, kw_only=True)
class Figure:
    """A figure of a paper. `methods` are the settings that draw all of it, as for `shoal evaluate --methods`."""

    id: str
    paper: str
    number: str
    title: str
    claim: str  # what the paper says of it
    setups: tuple[str, ...]  # ids of figures.setups, a panel each
    methods: str
    x: str  # a parameter, or "users": how many the set-up has
    x_title: str
    y_title: str
    lines: tuple[Line, ...]
    parts: Callable[[Panels], list[Part]]  # the claim, part by part, held against our points
    guide: Literal["", "x", "1/x", "linear"] = ""  # a line to compare with
    logarithmic: Literal["", "x", "xy"] = ""  # the axes that are
    timed: bool = False  # drawn on the page of costs, since times differ from run to run

    @property
    def settings(self) -> list[Setting]:
        return parse_methods(self.methods)


def all_figures() -> list[Figure]:
    """In the order of the papers."""
    from shoal.evaluation.figures import affinity, linkability, microaggregation, ssc, thesis

    return [figure for part in (linkability, thesis, ssc, affinity, microaggregation) for figure in part.FIGURES]
