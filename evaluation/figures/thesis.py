"""What did the thesis draw? Its figures 6.1 to 6.4: what clustering loses against partitioning."""

from itertools import pairwise

from shoal.evaluation.figures import Figure, Line, Seen
from shoal.evaluation.figures.verdicts import at_shared, compared, verdict

_PAPER = "Milani Fard 2010"
_OVER_K = "clump:k=5,7,10,15;clump:k=5,7,10,15,duplicates=drop;partition:k=5,7,10,15"
_ONE, _TWO, _PARTITION = "Clump1", "Clump2", "Partition"


def _lines(column: str) -> tuple[Line, ...]:
    return (
        Line(_ONE, "clump", column),
        Line(_TWO, "clump", column, {"duplicates": "drop"}),
        Line(_PARTITION, "partition", column),
    )


def _papers_k(shared: list[tuple[float, float, float]]) -> list[tuple[float, float, float]]:
    """The points within the thesis's range of k, if there are any."""
    return [point for point in shared if 5 <= point[0] <= 15] or shared


def _loses_less(seen: Seen) -> str:
    saved = [(k, 1 - a / b) for k, a, b in _papers_k(at_shared(seen, _ONE, _PARTITION)) if b > 0]
    told = ", ".join(f"{100 * share:.0f} % at k={k:g}" for k, share in saved)
    smaller = [one > other for (_, one), (_, other) in pairwise(saved)]
    return verdict([*(share > 0 for _, share in saved), *smaller], f"Clump1 loses less than Partition by {told}")


def _longer(seen: Seen) -> str:
    others = [other for other in (_TWO, _PARTITION) if other in seen]
    told = [compared(seen, _ONE, other, "longer", "shorter") for other in others]
    checks = [a > b for other in others for _, a, b in _papers_k(at_shared(seen, _ONE, other))]
    return verdict(checks, "; ".join(text for text in told if text))


def _levels(seen: Seen) -> str:
    """The root is level 1; what the thesis calls lower is farther from it."""
    shared = _papers_k(at_shared(seen, _ONE, _PARTITION))
    told = [f"at k={x:g} {_values(seen, x)}" for x, _, _ in shared]
    deeper = [a > b for _, a, b in _papers_k(at_shared(seen, _TWO, _PARTITION))]
    return verdict([*(a < b for _, a, b in shared), *deeper], "mean levels are " + "; ".join(told))


def _values(seen: Seen, x: float) -> str:
    there = {label: dict(points)[x] for label, points in seen.items() if x in dict(points)}
    return ", ".join(f"{label} {value:.2f}" for label, value in there.items())


def _not_always_better(seen: Seen) -> str:
    points = seen[_ONE]
    best, worst = (pick(points, key=lambda point: point[1]) for pick in (min, max))
    change = 100 * (worst[1] - best[1]) / worst[1]
    ten = dict(points).get(10.0, best[1])
    why = f"r={best[0]:g} loses least and r={worst[0]:g} most, {change:.1f} % apart; r=10 loses"
    checks = [best[0] < points[-1][0], ten <= 1.05 * best[1]]
    return verdict(checks, f"{why} {100 * (ten / best[1] - 1):.1f} % more than the best")


FIGURES = (
    Figure(
        "thesis-6-1", _PAPER, "Figure 6.1", "How much information is lost?",
        "Clump loses as much as 30 % less information than Partition, less so for larger k; Clump1 and Clump2 hardly "
        "differ.",
        _OVER_K, "k", "k", "distortion (GGD, total)", _lines("ggd"), _loses_less, needs=(_PARTITION,),
    ),
    Figure(
        "thesis-6-2", _PAPER, "Figure 6.2", "How long are the published transactions?",
        "Clump1's are significantly longer than those of Clump2 and Partition, because it keeps duplicates.",
        _OVER_K, "k", "k", "mean length of a published profile", _lines("length"), _longer, needs=(_PARTITION,),
    ),
    Figure(
        "thesis-6-3", _PAPER, "Figure 6.3", "How general are the published items?",
        "Clump2's items are farther from the root (level 1) than Partition's, and those farther than Clump1's.",
        _OVER_K, "k", "k", "mean level of published items (root = 1)", _lines("level"), _levels, needs=(_PARTITION,),
    ),
    Figure(
        "thesis-6-4", _PAPER, "Figure 6.4", "Do more clusters to choose from help?",
        "A larger r does not always give a better result; r=10 achieves a good one.",
        "clump:k=5,r=5,10,30,50,100", "r", "r: clusters tried", "distortion (GGD, total)",
        (Line(_ONE, "clump", "ggd"),), _not_always_better, logarithmic=True,
    ),
)  # fmt: skip
