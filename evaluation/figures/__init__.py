"""What did the papers draw, and what do we see? Their figures as data: what each shows, claims, and needs."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from shoal.evaluation.experiment.settings import Setting, distinct, parse_methods

Seen = dict[str, list[tuple[float, float]]]  # the points of each curve, x ascending


@dataclass(frozen=True)
class Line:
    """A curve of a figure: the settings of a method that differ in the figure's x alone, and the column drawn."""

    label: str
    method: str
    column: str
    fixed: dict[str, str] = field(default_factory=dict)  # parameters that are not at their defaults


@dataclass(frozen=True)
class Figure:
    """A figure of a paper. `methods` are the settings that draw all of it, as for `shoal evaluate --methods`."""

    id: str
    paper: str
    number: str
    title: str
    claim: str  # what the paper says of it
    methods: str
    x: str  # a parameter
    x_title: str
    y_title: str
    lines: tuple[Line, ...]
    see: Callable[[Seen], str]  # what our points say, in a sentence
    needs: tuple[str, ...] = ()  # lines without which it tells nothing, besides the first
    bound: str = ""  # a line to compare with: "x", or "1/x"
    logarithmic: bool = False

    @property
    def settings(self) -> list[Setting]:
        return parse_methods(self.methods)


def all_figures() -> list[Figure]:
    """In the order of the papers."""
    from shoal.evaluation.figures import affinity, linkability, microaggregation, thesis

    return [figure for part in (linkability, thesis, affinity, microaggregation) for figure in part.FIGURES]


def figure_settings(figures: Sequence[Figure]) -> list[Setting]:
    """All that an experiment must hold to draw these figures whole."""
    return distinct(setting for figure in figures for setting in figure.settings)
