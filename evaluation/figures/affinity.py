"""What did Carpineto & Romano draw? Their figures 5 to 7: how much is released, of what kind, and what is lost."""

from shoal.evaluation.figures import Figure, Line, Seen
from shoal.evaluation.figures.verdicts import at_shared, compared, each_trend, verdict

_PAPER = "Carpineto & Romano 2014"
_KS = "2,5,10,20,50,100"
_METHODS = f"equality:k={_KS};affinity:k={_KS};affinity:k={_KS},theta=0.8"
_EQ, _AFF9, _AFF8, _WN = "EQ", "AFF 0.9", "AFF 0.8", "WNGEN"


def _lines(column: str) -> tuple[Line, ...]:
    return (
        Line(_EQ, "equality", column),
        Line(_AFF9, "affinity", column),
        Line(_AFF8, "affinity", column, {"theta": "0.8"}),
    )


def _more_released(seen: Seen) -> str:
    pairs = [(_AFF9, _EQ), *([(_AFF8, _AFF9)] if _AFF8 in seen else [])]
    checks = [a >= b for one, other in pairs for _, a, b in at_shared(seen, one, other)]
    told = [compared(seen, one, other) for one, other in pairs]
    return verdict(checks, "; ".join([*told, each_trend(seen)]))


def _less_lost(seen: Seen) -> str:
    told = [compared(seen, one, _EQ, "more lossy", "less lossy") for one in (_AFF9, _WN) if one in seen]
    told += [compared(seen, _AFF9, _WN, "more lossy", "less lossy")]
    checks = [a <= b for one in (_AFF9, _WN) for _, a, b in at_shared(seen, one, _EQ)]
    checks += [a < b for _, a, b in at_shared(seen, _AFF9, _WN)[:1]]
    return verdict(checks, "; ".join(text for text in [*told, each_trend(seen)] if text))


def _f_beta(letter: str, beta: str, column: str) -> Figure:
    return Figure(
        f"affinity-6{letter}", _PAPER, f"Figure 6 ({letter})", f"Is the harmless released, and no more? F, beta={beta}",
        "Affinity clearly outperforms equality for every k, and F falls as k grows. (The paper's labels are people's "
        "and not public; ours are WordNet's: what is of places, times, people, religion, sex or health.)",
        _METHODS, "k", "k", f"F, beta={beta}", _lines(column), _more_released, needs=(_AFF9,),
        logarithmic=True,
    )  # fmt: skip


FIGURES = (
    Figure(
        "affinity-5", _PAPER, "Figure 5 (a)", "How many distinct queries are released?",
        "Affinity releases more than equality at every k, and more with theta=0.8 than with 0.9. (5 (b) is of one real "
        "person of AOL's log, which is not here.)",
        _METHODS, "k", "k", "share of distinct queries released", _lines("released_distinct"), _more_released,
        needs=(_AFF9,), logarithmic=True,
    ),
    *(_f_beta(letter, beta, column) for letter, beta, column in (("a", "1", "f_beta1"), ("b", "0.1", "f_beta01"))),
    Figure(
        "affinity-7", _PAPER, "Figure 7", "How much is lost?",
        "Affinity and WordNet generalization lose less than equality for all k; for low k affinity loses less than "
        "WordNet, whose loss stays nearly the same as k grows.",
        f"{_METHODS};wordnet-queries:k={_KS}", "k", "k", "NCP",
        (*_lines("ncp")[:2], Line(_WN, "wordnet-queries", "ncp")), _less_lost, needs=(_AFF9, _WN),
        logarithmic=True,
    ),
)  # fmt: skip
