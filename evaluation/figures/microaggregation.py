"""What did Erola et al. draw? Their figures 3 and 4: what is left of the topics of each user's log, and the time."""

from functools import partial

from shoal.evaluation.figures import Curves, Figure, Line, Panels, Part, Point
from shoal.evaluation.figures.verdicts import at_shared, counted, difference, interval, more

_LEVELS = (1, 3, 5)
_SAME = 0.02  # apart is the same
_ABOUT = (0.05, 0.15)  # is about 0.1
_FIVE, _ONE = "5 categories", "1 category"


def _lines() -> tuple[Line, ...]:
    five = [Line(f"level {n}, {_FIVE}", "microaggregation", f"srp{n}") for n in _LEVELS]
    one = [Line(f"level {n}, {_ONE}", "microaggregation", f"srp{n}", {"categories": "1"}) for n in _LEVELS]
    return (*five, *one)


def _above_the_floor(panels: Panels) -> list[Part]:
    (curves,) = panels.values()
    above = tuple(interval(point).within(1 / point.x, 1) for points in curves.values() for point in points)
    flat, deep = _gains(curves, 1), _gains(curves, 5)
    grows = (difference(*deep[0]).is_below(difference(*deep[-1])),) if len(deep) > 1 else ()
    largest = tuple(difference(*pair).within(*_ABOUT) for pair in deep if pair[0].x == 5)
    return [
        Part("the share is above 1/k at all levels", above, counted(above)),
        Part(
            f"at level 1 more categories gain nothing ({_SAME} at most)", _all_within(flat, -_SAME, _SAME), _told(flat)
        ),
        Part(f"at level 5 they gain (more than {_SAME})", _all_within(deep, _SAME, 1), _told(deep)),
        Part("more so in larger clusters", grows, _told(deep[:: max(len(deep) - 1, 1)])),
        Part("about 0.1 at level 5 and k=5", largest, _told(deep[-1:])),
    ]


def _gains(curves: Curves, level: int) -> list[tuple[Point, Point]]:
    return at_shared(curves, f"level {level}, {_FIVE}", f"level {level}, {_ONE}")


def _all_within(gains: list[tuple[Point, Point]], low: float, high: float) -> tuple[bool | None, ...]:
    return tuple(difference(*pair).within(low, high) for pair in gains)


def _told(gains: list[tuple[Point, Point]]) -> str:
    return ", ".join(f"{five.y - one.y:+.3f} at k={five.x:g}" for five, one in gains)


def _three_times(panels: Panels) -> list[Part]:
    (curves,) = panels.values()
    pairs = [(five, one) for five, one in at_shared(curves, _FIVE, _ONE) if one.y]
    times = tuple(more(five, one).within(1, 3) for five, one in pairs)
    told = ", ".join(f"{five.y / one.y:.1f} with {five.x:g}" for five, one in pairs)
    return [Part("five categories take about three times the time of one (2 to 4)", times, f"by levels, {told}")]


_figure = partial(Figure, paper="Erola et al. 2011", setups=("erola",))

FIGURES = (
    _figure(
        id="microaggregation-3",
        number="Figure 3",
        title="How much of the topics is left?",
        claim="The semantic remain percentage is above the theoretical 1/k at all levels; more categories lose less at "
        "deeper levels and in larger clusters, about 10 % at level 5 and k=5, and nothing at level 1.",
        methods="microaggregation:k=2,3,4,5;microaggregation:k=2,3,4,5,categories=1",
        x="k",
        x_title="k",
        y_title="SRP",
        lines=_lines(),
        parts=_above_the_floor,
        guide="1/x",
    ),
    _figure(
        id="microaggregation-4",
        number="Figure 4",
        title="What do more levels and categories cost?",
        claim="With the first five categories the time is three times that with the first one (here k=3).",
        methods="microaggregation:k=3,levels=1,2,3,4,5;microaggregation:k=3,levels=1,2,3,4,5,categories=1",
        x="levels",
        x_title="levels of the directory",
        y_title="seconds",
        lines=tuple(
            Line(label, "microaggregation", "seconds", {"k": "3"} | more)
            for label, more in ((_FIVE, {}), (_ONE, {"categories": "1"}))
        ),
        parts=_three_times,
        timed=True,
    ),
)
