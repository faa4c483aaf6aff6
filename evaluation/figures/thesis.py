"""What did the thesis draw? Its figures 6.1 to 6.5: what clustering loses against partitioning, and its time."""

from itertools import pairwise

from shoal.evaluation.bench.timing import fitted_exponent
from shoal.evaluation.figures import Curves, Figure, Line, Panels, Part
from shoal.evaluation.figures.verdicts import at_shared, compared, number

_PAPER = "Milani Fard 2010"
_SETUPS = ("thesis-1000", "thesis-10000", "thesis-53058")
_OVER_K = "clump:k=5,7,10,15;clump:k=5,7,10,15,duplicates=drop;partition:k=5,7,10,15"
_ONE, _TWO, _PARTITION = "Clump1", "Clump2", "Partition"
_HARDLY = 0.05  # apart is hardly
DENSITY = dict(zip(_SETUPS, (0.28, 0.25, 0.11), strict=True))  # Table 6.1, in per cent


def _lines(column: str) -> tuple[Line, ...]:
    return (
        Line(_ONE, "clump", column),
        Line(_TWO, "clump", column, {"duplicates": "drop"}),
        Line(_PARTITION, "partition", column),
    )


def _savings(curves: Curves) -> dict[float, float]:
    """How much less Clump1 loses than Partition, at each k."""
    return {one.x: 1 - one.y / other.y for one, other in at_shared(curves, _ONE, _PARTITION) if other.y}


def _loses_less(panels: Panels) -> list[Part]:
    saved = {title: _savings(curves) for title, curves in panels.items()}
    most = max((share for some in saved.values() for share in some.values()), default=0.0)
    apart = [(one.y, other.y) for curves in panels.values() for one, other in at_shared(curves, _ONE, _TWO)]
    ends = [(title, list(some.values())) for title, some in saved.items() if len(some) > 1]
    at_k = "; ".join(f"{title or 'here'}: " + ", ".join(f"{100 * s:.0f} %" for s in some) for title, some in ends)
    both = [(a[k], b[k]) for a, b in pairwise(saved.values()) for k in a.keys() & b.keys()]
    return [
        compared(panels, _ONE, "below", _PARTITION, "Clump1 loses less than Partition"),
        compared(panels, _TWO, "below", _PARTITION, "Clump2 loses less than Partition"),
        Part("by as much as 30 %", (most >= 0.295,), f"Clump1 saves {100 * most:.0f} % at most"),
        Part(
            "Clump1 and Clump2 hardly differ",
            tuple(abs(b / a - 1) <= _HARDLY for a, b in apart if a),
            f"Clump2 loses {min(100 * (b / a - 1) for a, b in apart):+.0f} to "
            f"{max(100 * (b / a - 1) for a, b in apart):+.0f} %",
        ),
        Part("the improvement falls with k", tuple(some[0] > some[-1] for _, some in ends), f"by k, {at_k}"),
        Part("and with |D|", tuple(a > b for a, b in both), f"at {sum(a > b for a, b in both)} of {len(both)} pairs"),
    ]


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
            tuple(best[title].x < points[-1].x for title, points in curves),
            "; ".join(f"{title or 'here'}: r={best[title].x:g} loses least" for title, _ in curves),
        ),
        Part(
            "r=10 achieves a good one",
            tuple(share <= 100 * _HARDLY for share in worse.values()),
            "; ".join(f"{title or 'here'}: {share:.1f} % more than the best" for title, share in worse.items()),
        ),
    ]


def _linear(panels: Panels) -> list[Part]:
    (curves,) = panels.values()
    clump = curves["Clump"]
    b = fitted_exponent([point.x for point in clump], [point.y for point in clump])
    seconds = ", ".join(f"{number(point.y)} s for {point.x:,.0f}" for point in clump)
    return [
        compared(panels, "Clump", "above", _PARTITION, "Clump takes longer than Partition"),
        Part("and grows linearly", (b <= 1.15,), f"with the power {b:.2f} of the users: {seconds}"),
    ]


FIGURES = (
    Figure(
        id="thesis-6-1",
        paper=_PAPER,
        number="Figure 6.1",
        title="How much information is lost?",
        claim="Clump loses as much as 30 % less information than Partition, less so for larger k and larger databases; "
        "Clump1 and Clump2 hardly differ.",
        setups=_SETUPS,
        methods=_OVER_K,
        x="k",
        x_title="k",
        y_title="distortion (GGD, total)",
        lines=_lines("ggd"),
        parts=_loses_less,
    ),
    Figure(
        id="thesis-6-2",
        paper=_PAPER,
        number="Figure 6.2",
        title="How long are the published transactions?",
        claim="Clump1's are significantly longer than those of Clump2 and Partition, because it keeps duplicates.",
        setups=_SETUPS,
        methods=_OVER_K,
        x="k",
        x_title="k",
        y_title="mean length of a published profile",
        lines=_lines("length"),
        parts=_longer,
    ),
    Figure(
        id="thesis-6-3",
        paper=_PAPER,
        number="Figure 6.3",
        title="How general are the published items?",
        claim="Clump2's items are farther from the root (level 1) than Partition's, and those farther than Clump1's.",
        setups=_SETUPS,
        methods=_OVER_K,
        x="k",
        x_title="k",
        y_title="mean level of published items (root = 1)",
        lines=_lines("level"),
        parts=_levels,
    ),
    Figure(
        id="thesis-6-4",
        paper=_PAPER,
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
        logarithmic=True,
    ),
    Figure(
        id="thesis-6-5",
        paper=_PAPER,
        number="Figure 6.5",
        title="How long does it take?",
        claim="Clump takes longer than Partition, and grows linearly with the database (k=5, r=10).",
        setups=_SETUPS,
        methods="clump:k=5;partition:k=5",
        x="users",
        x_title="|D|",
        y_title="seconds",
        lines=(Line("Clump", "clump", "seconds"), Line(_PARTITION, "partition", "seconds")),
        parts=_linear,
        logarithmic=True,
        timed=True,
    ),
)
