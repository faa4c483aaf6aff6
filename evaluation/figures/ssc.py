"""What did Liu & Wang compare? SSC against LG(bag), in information loss and in the frequent patterns still found."""

from collections.abc import Callable

from shoal.evaluation.figures import Figure, Line, Panels, Part
from shoal.evaluation.figures.verdicts import Way, compared

_SSC, _LG = "SSC", "LG(bag)"
_KS = "2,5,10,20"


def _better(way: Way, says: str) -> Callable[[Panels], list[Part]]:
    return lambda panels: [compared(panels, _SSC, way, _LG, f"{says} for all k")]


def _figure(id: str, title: str, column: str, y_title: str, way: Way, says: str) -> Figure:
    return Figure(
        id=f"ssc-{id}",
        paper="Liu & Wang 2010",
        number=f"section VI ({column})",
        title=title,
        claim="SSC retains much more data utility than LG(bag) in information loss (bLM) and in frequent pattern "
        "mining (Recall, sDist). The figures stand in a technical report that is not here.",
        setups=("ssc",),
        methods=f"ssc:k={_KS};partition:k={_KS},bags=yes",
        x="k",
        x_title="k",
        y_title=y_title,
        lines=(Line(_SSC, "ssc", column), Line(_LG, "partition", column, {"bags": "yes"})),
        parts=_better(way, says),
        logarithmic="x",
    )


FIGURES = (
    _figure(
        "loss",
        "How much does SSC lose against local generalization?",
        "bLM",
        "bLM (lower is better)",
        "below",
        "SSC loses less than LG(bag)",
    ),
    _figure(
        "recall",
        "How many frequent patterns are still found?",
        "recall",
        "Recall (higher is better)",
        "above",
        "SSC keeps more patterns than LG(bag)",
    ),
    _figure(
        "distance",
        "How far are the patterns from the original ones?",
        "sDist",
        "sDist (lower is better)",
        "below",
        "SSC's patterns are nearer than those of LG(bag)",
    ),
)
