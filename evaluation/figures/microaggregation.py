"""What did Erola et al. draw? Their figures 3 and 4: what is left of the topics of each user's log, and the time."""

from shoal.evaluation.figures import Curves, Figure, Line, Panels, Part
from shoal.evaluation.figures.verdicts import at_shared

_PAPER = "Erola et al. 2011"
_SETUPS = ("erola",)
_LEVELS = (1, 3, 5)
_SAME = 0.02  # apart is the same
_FIVE, _ONE = "5 categories", "1 category"


def _lines() -> tuple[Line, ...]:
    five = [Line(f"level {n}, {_FIVE}", "microaggregation", f"srp{n}") for n in _LEVELS]
    one = [Line(f"level {n}, {_ONE}", "microaggregation", f"srp{n}", {"categories": "1"}) for n in _LEVELS]
    return (*five, *one)


def _above_the_floor(panels: Panels) -> list[Part]:
    (curves,) = panels.values()
    above = [point.low > 1 / point.x for points in curves.values() for point in points]
    deep, flat = _gains(curves, 5), _gains(curves, 1)
    return [
        Part("the share is above 1/k at all levels", tuple(above), f"at {sum(above)} of {len(above)} points"),
        Part("at level 1 more categories gain nothing", tuple(abs(g) <= _SAME for g in flat.values()), _told(flat)),
        Part("at level 5 they gain, about 0.1 at k=5", tuple(g > _SAME for g in deep.values()), _told(deep)),
    ]


def _gains(curves: Curves, level: int) -> dict[float, float]:
    shared = at_shared(curves, f"level {level}, {_FIVE}", f"level {level}, {_ONE}")
    return {five.x: five.y - one.y for five, one in shared}


def _told(gains: dict[float, float]) -> str:
    return ", ".join(f"{gain:+.3f} at k={k:g}" for k, gain in gains.items())


def _three_times(panels: Panels) -> list[Part]:
    (curves,) = panels.values()
    times = [five.y / one.y for five, one in at_shared(curves, _FIVE, _ONE) if one.y]
    told = ", ".join(f"{ratio:.1f}" for ratio in times)
    return [Part("five categories take about three times the time of one", tuple(2 <= r <= 4 for r in times), told)]


FIGURES = (
    Figure(
        id="microaggregation-3",
        paper=_PAPER,
        number="Figure 3",
        title="How much of the topics is left?",
        claim="The semantic remain percentage is above the theoretical 1/k at all levels; more categories lose less at "
        "deeper levels and in larger clusters, about 10 % at level 5 and k=5, and nothing at level 1.",
        setups=_SETUPS,
        methods="microaggregation:k=2,3,4,5;microaggregation:k=2,3,4,5,categories=1",
        x="k",
        x_title="k",
        y_title="SRP",
        lines=_lines(),
        parts=_above_the_floor,
        bound="1/x",
    ),
    Figure(
        id="microaggregation-4",
        paper=_PAPER,
        number="Figure 4",
        title="What do more levels and categories cost?",
        claim="With the first five categories the time is three times that with the first one (here k=3).",
        setups=_SETUPS,
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
