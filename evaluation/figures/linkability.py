"""What did Zhu & Xiong draw? Their figures 2 to 6: precision, and what the privacy parameter does."""

from functools import partial

from shoal.evaluation.figures import Figure, Line, Panels, Part
from shoal.evaluation.figures.verdicts import compared, interval, number, trend

_METHOD = "linkability"
_OVER_P = "linkability:p=0.1,0.2,0.3,0.4"
_PRECISION = tuple(Line(method, method, "ap10") for method in (_METHOD, "plain", "everyone"))
_CLOSE = 0.8  # of the larger of two is close to it


def _gain(panels: Panels) -> list[Part]:
    (curves,) = panels.values()
    here = curves | {_METHOD: [point for point in curves.get(_METHOD, []) if point.x == 0.4]}
    part = compared({"": here}, _METHOD, "above", "plain", "with p=0.4 and a=1 better than without a profile")
    told = [f"{line.label} {number(here[line.label][0].y)}" for line in _PRECISION if here.get(line.label)]
    return [Part(part.says, part.shown, f"AP@10 is {', '.join(told)}")]


def _rises_with_a(panels: Panels) -> list[Part]:
    return [trend(panels, _METHOD, "rises", "precision rises with a")]


def _rises(panels: Panels) -> list[Part]:
    return [trend(panels, _METHOD, "rises", "precision rises with p")]


def _falls(panels: Panels) -> list[Part]:
    return [trend(panels, _METHOD, "falls", "groups shrink as p grows")]


def _below(panels: Panels) -> list[Part]:
    (curves,) = panels.values()
    mean, largest = (curves.get(label, []) for label in ("the mean", "the largest"))
    told = ", ".join(f"{number(point.y)} at p={point.x:g}" for point in mean)
    above = [point for point in largest if point.low > point.x]
    closest = min((100 * point.y / point.x for point in mean), default=0.0)
    worst = f"; the largest of all users is above it at {len(above)} of {len(largest)} p" if largest else ""
    lower = tuple(interval(point).within(0, point.x) for point in mean)
    close = tuple(interval(point).within(_CLOSE * point.x, point.x / _CLOSE) for point in mean)
    return [
        Part("the actual probability is lower than the bound", lower, f"{told}{worst}"),
        Part(f"and close to it, {100 * _CLOSE:.0f} % of it or more", close, f"{closest:.0f} % of it and more"),
    ]


_figure = partial(Figure, paper="Zhu & Xiong 2010", setups=("zhu-xiong",))
_over_p = partial(_figure, methods=_OVER_P, x="p", x_title="p (lower is more private)")

FIGURES = (
    _over_p(
        id="zhu-xiong-2",
        number="Figure 2",
        title="Precision with and without the profile of a group",
        claim="Average precision at 10 is 78.86 % with p=0.4 and a=1, significantly better than without profiles.",
        methods=f"{_OVER_P};plain;everyone",
        y_title="AP@10",
        lines=_PRECISION,
        parts=_gain,
    ),
    _figure(
        id="zhu-xiong-3",
        number="Figure 3",
        title="Does it help to compare profiles by what their words mean?",
        claim="The higher the augmentation level a, the better the search quality, to some extent.",
        methods="linkability:p=0.4,a=0,1,2,3",
        x="a",
        x_title="a: steps of hypernyms",
        y_title="AP@10",
        lines=(Line(_METHOD, _METHOD, "ap10"),),
        parts=_rises_with_a,
    ),
    _over_p(
        id="zhu-xiong-4",
        number="Figure 4",
        title="What does privacy cost in precision?",
        claim="A lower p gives a stronger guarantee at the cost of precision.",
        y_title="AP@10",
        lines=(Line(_METHOD, _METHOD, "ap10"),),
        parts=_rises,
    ),
    _over_p(
        id="zhu-xiong-5",
        number="Figure 5",
        title="How large are the groups?",
        claim="The group size decreases with p, since a lower p needs more profiles together.",
        y_title="users in a group, in the mean",
        lines=(Line(_METHOD, _METHOD, "anonymity_mean"),),
        parts=_falls,
    ),
    _over_p(
        id="zhu-xiong-6",
        number="Figure 6",
        title="Is the actual probability of linking within its bound?",
        claim="The actual linkability is close to but lower than the given bound.",
        x_title="the bound p",
        y_title="actual linking probability",
        lines=(Line("the mean", _METHOD, "linking_mean"), Line("the largest", _METHOD, "linking_max")),
        parts=_below,
        guide="x",
    ),
)
