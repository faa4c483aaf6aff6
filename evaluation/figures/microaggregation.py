"""What did Erola et al. draw? Their figure 3: what is left of the topics of each user's log."""

from shoal.evaluation.figures import Figure, Line, Seen
from shoal.evaluation.figures.verdicts import at_shared, each_trend, verdict

_PAPER = "Erola et al. 2011"
_LEVELS = (1, 3, 5)


def _lines() -> tuple[Line, ...]:
    five = [Line(f"level {n}, 5 categories", "microaggregation", f"srp{n}") for n in _LEVELS]
    one = [Line(f"level {n}, 1 category", "microaggregation", f"srp{n}", {"categories": "1"}) for n in _LEVELS]
    return (*five, *one)


def _above_the_floor(seen: Seen) -> str:
    above = [y > 1 / k for points in seen.values() for k, y in points]
    deep = at_shared(seen, "level 5, 5 categories", "level 5, 1 category")
    more = f"; at level 5 five categories gain over one {', '.join(f'{a - b:+.3f} at k={k:g}' for k, a, b in deep)}"
    why = f"{sum(above)} of {len(above)} points are above 1/k; {each_trend(seen)}{more if deep else ''}"
    return verdict([*above, *(a > b for _, a, b in deep)], why)


FIGURES = (
    Figure(
        "microaggregation-3", _PAPER, "Figure 3", "How much of the topics is left?",
        "The semantic remain percentage is above the theoretical 1/k at all levels; more categories lose less at "
        "deeper levels and in larger clusters, about 10 % at level 5 and k=5.",
        "microaggregation:k=2,3,4,5;microaggregation:k=2,3,4,5,categories=1", "k", "k", "SRP", _lines(),
        _above_the_floor, bound="1/x",
    ),
)  # fmt: skip
