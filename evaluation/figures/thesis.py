"""What did the thesis draw? Its figures 6.1 to 6.5: what clustering loses against partitioning, and its time."""

from collections.abc import Sequence
from functools import partial
from itertools import pairwise
from math import inf, log, log1p

from shoal.evaluation.figures import Figure, Line, Panels, Part, Point
from shoal.evaluation.figures.verdicts import Range, at_shared, compared, counted, interval, more, number, spread

_SETUPS = ("thesis-1000", "thesis-10000", "thesis-53058")
_OVER_K = "clump:k=5,7,10,15;clump:k=5,7,10,15,duplicates=drop;partition:k=5,7,10,15"
_ONE, _TWO, _PARTITION = "Clump1", "Clump2", "Partition"
_HARDLY = 0.05  # apart is hardly
_LINEAR = 1.15  # a power of the users, and less, is linear
DENSITY = dict(zip(_SETUPS, (0.28, 0.25, 0.11), strict=True))  # Table 6.1, in per cent


def _lines(column: str) -> tuple[Line, ...]:
    return (
        Line(_ONE, "clump", column),
        Line(_TWO, "clump", column, {"duplicates": "drop"}),
        Line(_PARTITION, "partition", column),
    )


def _loses_less(panels: Panels) -> list[Part]:
    pairs = {title: [p for p in at_shared(curves, _ONE, _PARTITION) if p[1].y] for title, curves in panels.items()}
    most = sorted((pair for some in pairs.values() for pair in some), key=lambda pair: pair[0].y / pair[1].y)[:1]
    apart = [pair for curves in panels.values() for pair in at_shared(curves, _TWO, _ONE)]
    return [
        compared(panels, _ONE, "below", _PARTITION, "Clump1 loses less than Partition"),
        compared(panels, _TWO, "below", _PARTITION, "Clump2 loses less than Partition"),
        Part(
            "by as much as 30 %",
            tuple(more(*pair).within(-1, -0.295) for pair in most),
            "".join(f"Clump1 saves {_saved(*pair)} at most" for pair in most),
        ),
        Part(
            f"Clump1 and Clump2 hardly differ, by {100 * _HARDLY:.0f} % at most",
            tuple(more(*pair).within(-_HARDLY, _HARDLY) for pair in apart),
            f"Clump2 differs by {spread(apart)}" if apart else "",
        ),
        _falls_with_k({title: some for title, some in pairs.items() if len(some) > 1}),
        _falls_with_size(list(pairs.values())),
    ]


def _saved(one: Point, other: Point) -> str:
    """How much less Clump1 loses than Partition."""
    return f"{100 * (1 - one.y / other.y):.0f} %"


def _falls_with_k(pairs: dict[str, list[tuple[Point, Point]]]) -> Part:
    shown = tuple(more(*some[0]).is_below(more(*some[-1])) for some in pairs.values())
    told = [f"{title or 'here'}: {', '.join(_saved(*pair) for pair in some)}" for title, some in pairs.items()]
    return Part("the improvement falls with k", shown, f"by k, {'; '.join(told)}" if told else "")


def _falls_with_size(pairs: list[list[tuple[Point, Point]]]) -> Part:
    steps = [(a, b) for small, large in pairwise(pairs) for a in small for b in large if a[0].x == b[0].x]
    shown = tuple(more(*a).is_below(more(*b)) for a, b in steps)
    return Part("and with |D|", shown, counted(shown) if shown else "")


def _longer(panels: Panels) -> list[Part]:
    return [
        compared(panels, _ONE, "above", _TWO, "Clump1's transactions are longer than Clump2's"),
        compared(panels, _ONE, "above", _PARTITION, "and longer than Partition's"),
    ]


def _levels(panels: Panels) -> list[Part]:
    """The root is level 1; what the thesis calls lower is farther from it."""
    return [
        compared(panels, _TWO, "above", _PARTITION, "Clump2's items are farther from the root than Partition's"),
        compared(panels, _PARTITION, "above", _ONE, "and Partition's farther than Clump1's"),
    ]


def _not_always_better(panels: Panels) -> list[Part]:
    curves = [(title, curves[_ONE]) for title, curves in panels.items() if _ONE in curves]
    best = {title: min(points, key=lambda point: point.y) for title, points in curves}
    ten = {title: next((p for p in points if p.x == 10), best[title]) for title, points in curves}
    worse = {title: 100 * (ten[title].y / best[title].y - 1) for title, _ in curves}
    return [
        Part(
            "a larger r does not always give a better result",
            tuple(_is_not_better(points) for _, points in curves),
            "; ".join(f"{title or 'here'}: r={best[title].x:g} loses least" for title, _ in curves),
        ),
        Part(
            f"r=10 achieves a good one, {100 * _HARDLY:.0f} % from the best at most",
            tuple(more(ten[title], best[title]).within(-1, _HARDLY) for title, _ in curves),
            "; ".join(f"{title or 'here'}: {share:.1f} % more than the best" for title, share in worse.items()),
        ),
    ]


def _is_not_better(points: Sequence[Point]) -> bool | None:
    """A larger r loses more somewhere; no, where every step loses less."""
    steps = [interval(a).is_below(interval(b)) for a, b in pairwise(points)]
    return True if True in steps else None if None in steps else False


def _linear(panels: Panels) -> list[Part]:
    clump = [point for curves in panels.values() for point in curves.get("Clump", [])]
    powers = [_power(clump[0], clump[-1])] if len(clump) > 1 else []
    seconds = ", ".join(f"{number(point.y)} s for {point.x:,.0f}" for point in clump)
    return [
        compared(panels, "Clump", "above", _PARTITION, "Clump takes longer than Partition"),
        Part(
            f"and grows linearly, with a power of {_LINEAR} at most",
            tuple(power.within(-inf, _LINEAR) for power in powers),
            "".join(f"with a power of {p.low:.2f} to {p.high:.2f} of the users; {seconds}" for p in powers),
        ),
    ]


def _power(first: Point, last: Point) -> Range:
    """Which power of the users the time grows with, from the smallest to the largest |D|."""
    grown = more(last, first)
    return Range(*(log1p(max(share, -1 + 1e-9)) / log(last.x / first.x) for share in grown))


_figure = partial(Figure, paper="Milani Fard 2010", setups=_SETUPS)
_over_k = partial(_figure, methods=_OVER_K, x="k", x_title="k")

FIGURES = (
    _over_k(
        id="thesis-6-1",
        number="Figure 6.1",
        title="How much information is lost?",
        claim="Clump loses as much as 30 % less information than Partition, less so for larger k and larger databases; "
        "Clump1 and Clump2 hardly differ.",
        y_title="distortion (GGD, total)",
        lines=_lines("ggd"),
        parts=_loses_less,
    ),
    _over_k(
        id="thesis-6-2",
        number="Figure 6.2",
        title="How long are the published transactions?",
        claim="Clump1's are significantly longer than those of Clump2 and Partition, because it keeps duplicates.",
        y_title="mean length of a published profile",
        lines=_lines("length"),
        parts=_longer,
    ),
    _over_k(
        id="thesis-6-3",
        number="Figure 6.3",
        title="How general are the published items?",
        claim="Clump2's items are farther from the root (level 1) than Partition's, and those farther than Clump1's.",
        y_title="mean level of published items (root = 1)",
        lines=_lines("level"),
        parts=_levels,
    ),
    _figure(
        id="thesis-6-4",
        number="Figure 6.4",
        title="Do more clusters to choose from help?",
        claim="A larger r does not always give a better result; r=10 achieves a good one (k=5, |D| = 53,058).",
        setups=_SETUPS[1:],
        methods="clump:k=5,r=5,10,30,50,100",
        x="r",
        x_title="r: clusters tried",
        y_title="distortion (GGD, total)",
        lines=(Line(_ONE, "clump", "ggd"),),
        parts=_not_always_better,
        logarithmic="x",
    ),
    _figure(
        id="thesis-6-5",
        number="Figure 6.5",
        title="How long does it take?",
        claim="Clump takes longer than Partition, and grows linearly with the database (k=5, r=10).",
        methods="clump:k=5;partition:k=5",
        x="users",
        x_title="|D|",
        y_title="seconds",
        lines=(Line("Clump", "clump", "seconds"), Line(_PARTITION, "partition", "seconds")),
        parts=_linear,
        guide="linear",
        logarithmic="xy",
        timed=True,
    ),
)
