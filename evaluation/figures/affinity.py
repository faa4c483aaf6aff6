"""What did Carpineto & Romano draw? Their figures 5 to 7: how much is released, of what kind, and what is lost."""

from functools import partial
from itertools import pairwise

from shoal.evaluation.figures import Figure, Line, Panels, Part
from shoal.evaluation.figures.verdicts import at_shared, compared, counted, more, trend

_KS = "2,5,10,20,50,100"
_EQ, _AFF9, _AFF8, _WN = "EQ", "AFF 0.9", "AFF 0.8", "WNGEN"
_STABLE = 0.1  # of its value: a curve that changes by less is nearly stable


_over_k = partial(
    Figure,
    paper="Carpineto & Romano 2014",
    setups=("affinity",),
    methods=f"equality:k={_KS};affinity:k={_KS};affinity:k={_KS},theta=0.8",
    x="k",
    x_title="k",
    logarithmic="x",
)


def _lines(column: str) -> tuple[Line, ...]:
    return (
        Line(_EQ, "equality", column),
        Line(_AFF9, "affinity", column),
        Line(_AFF8, "affinity", column, {"theta": "0.8"}),
    )


def _more_released(panels: Panels) -> list[Part]:
    (curves,) = panels.values()
    pairs = [(a, b) for a, b in at_shared(curves, _AFF9, _EQ) if b.y and a.x <= 10]
    grows = tuple(more(*before).is_below(more(*after)) for before, after in pairwise(pairs))
    told = ", ".join(f"{100 * (a.y / b.y - 1):+.0f} % at k={a.x:g}" for a, b in pairs)
    return [
        compared(panels, _AFF9, "above", _EQ, "affinity with theta=0.9 releases more than equality"),
        compared(panels, _AFF8, "above", _AFF9, "and with theta=0.8 more than with 0.9"),
        Part("the gain over equality grows from k=2 to k=10", grows, f"{told}; {counted(grows)}" if grows else ""),
    ]


def _more_harmless(panels: Panels) -> list[Part]:
    return [
        compared(panels, _AFF9, "above", _EQ, "affinity with theta=0.9 outperforms equality for every k"),
        compared(panels, _AFF8, "above", _EQ, "and so with theta=0.8"),
        compared(panels, _AFF8, "above", _AFF9, "theta=0.8 outperforms 0.9"),
        *(trend(panels, label, "falls", f"F of {label} falls as k grows") for label in (_EQ, _AFF9, _AFF8)),
    ]


def _less_lost(panels: Panels) -> list[Part]:
    (curves,) = panels.values()
    first = {"": {label: points[:1] for label, points in curves.items()}}
    wordnet = curves.get(_WN, [])
    stable = tuple(more(point, wordnet[0]).within(-_STABLE, _STABLE) for point in wordnet[1:])
    change = max((abs(point.y / wordnet[0].y - 1) for point in wordnet if wordnet[0].y), default=0.0)
    return [
        compared(panels, _AFF9, "below", _EQ, "affinity loses less than equality for all k"),
        compared(panels, _WN, "below", _EQ, "WordNet generalization loses less than equality for all k"),
        compared(first, _AFF9, "below", _WN, "for low k affinity loses less than WordNet generalization"),
        trend(panels, _AFF9, "rises", "affinity's loss rises with k"),
        Part("WordNet's stays nearly the same", stable, f"it changes by {100 * change:.0f} % at most"),
    ]


def _f_beta(letter: str, beta: str, column: str) -> Figure:
    return _over_k(
        id=f"affinity-6{letter}",
        number=f"Figure 6 ({letter})",
        title=f"Is the harmless released, and no more? F, beta={beta}",
        claim="Affinity clearly outperforms equality for every k and both theta, 0.8 outperforms 0.9, and F falls as k "
        "grows. (The paper's labels are people's and not public; ours are WordNet's: what is of places, times, people, "
        "religion, sex or health.)",
        y_title=f"F, beta={beta}",
        lines=_lines(column),
        parts=_more_harmless,
    )


FIGURES = (
    _over_k(
        id="affinity-5",
        number="Figure 5 (a)",
        title="How many distinct queries are released?",
        claim="Affinity releases more than equality at every k, and more with theta=0.8 than with 0.9; the gain grows "
        "with k, from 100 % at k=2 to 1000 % at k=10. (5 (b) is of one real person of AOL's log, which is not here.)",
        y_title="share of distinct queries released",
        lines=_lines("released_distinct"),
        parts=_more_released,
    ),
    _f_beta("a", "1", "f_beta1"),
    _f_beta("b", "0.1", "f_beta01"),
    _over_k(
        id="affinity-7",
        number="Figure 7",
        title="How much is lost?",
        claim="Affinity and WordNet generalization lose less than equality for all k; for low k affinity loses less "
        "than WordNet, whose loss stays nearly the same as k grows. (Of all words, WordNet's and others.)",
        methods=f"equality:k={_KS};affinity:k={_KS};wordnet-queries:k={_KS}",
        y_title="NCP of all words",
        lines=(*_lines("ncp")[:2], Line(_WN, "wordnet-queries", "ncp")),
        parts=_less_lost,
    ),
)
