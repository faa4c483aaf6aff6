"""What did Zhu & Xiong draw? Their figures 2 to 6: precision, and what the privacy parameter does."""

from shoal.evaluation.figures import Figure, Line, Seen
from shoal.evaluation.figures.verdicts import span, trend, verdict, written

_PAPER = "Zhu & Xiong 2010"
_METHOD = "linkability"
_OVER_P = "linkability:p=0.1,0.2,0.3,0.4"
_CONTROLS = "plain;everyone;original"


def _gain(seen: Seen) -> str:
    ours, plain = seen["linkability"], dict(seen["plain"])
    at = min(ours, key=lambda point: abs(point[0] - 0.4))
    base = next(iter(plain.values()))
    return verdict(
        [at[1] > base],
        f"at p={at[0]:g} AP@10 is {at[1]:.3f}, without a profile {base:.3f}, and one profile for everyone has "
        f"{next(iter(dict(seen['everyone']).values())):.3f}",
    )


def _rises_with_a(seen: Seen) -> str:
    points = seen["linkability"]
    gain = max(y for _, y in points[1:]) - points[0][1]
    why = f"AP@10 {trend(points)} ({span(points)}); the best a gains {gain:+.3f} over none"
    return verdict([gain > 0, points[-1][1] > points[0][1]], why)


def _rises(seen: Seen) -> str:
    points = seen["linkability"]
    return verdict([points[-1][1] > points[0][1]], f"AP@10 {trend(points)} ({span(points)})")


def _falls(seen: Seen) -> str:
    points = seen["linkability"]
    return verdict([points[-1][1] < points[0][1]], f"the mean size of a group {trend(points)} ({span(points)})")


def _below(seen: Seen) -> str:
    mean, largest = seen["the mean"], seen.get("the largest", [])
    below = [y <= p for p, y in mean]
    broken = [(p, y) for p, y in largest if y > p]
    more = ""
    if broken:
        p, y = max(broken, key=lambda point: point[1] / point[0])
        more = (
            f"; but the largest exceeds it at {len(broken)} of {len(largest)} settings (at p={p:g} it is {written(y)})"
        )
    why = f"the mean over users {trend(mean)} with p and is below it at {sum(below)} of {len(mean)} settings{more}"
    return verdict([*below, not broken], why)


FIGURES = (
    Figure(
        "zhu-xiong-2", _PAPER, "Figure 2", "Precision with and without the profile of a group",
        "Average precision at 10 is 78.86 % with p=0.4 and a=1, significantly better than search without profiles.",
        f"{_OVER_P};{_CONTROLS}", "p", "p", "AP@10",
        (Line("linkability", _METHOD, "ap10"), Line("plain", "plain", "ap10"), Line("everyone", "everyone", "ap10")),
        _gain, needs=("plain", "everyone"),
    ),
    Figure(
        "zhu-xiong-3", _PAPER, "Figure 3", "Does it help to compare profiles by what their words mean?",
        "The higher the augmentation level a, the better the search quality, to some extent.",
        "linkability:p=0.4,a=0,1,2,3", "a", "a: steps of hypernyms", "AP@10", (Line("linkability", _METHOD, "ap10"),),
        _rises_with_a,
    ),
    Figure(
        "zhu-xiong-4", _PAPER, "Figure 4", "What does privacy cost in precision?",
        "A lower p gives a stronger guarantee at the cost of precision.",
        _OVER_P, "p", "p (lower is more private)", "AP@10", (Line("linkability", _METHOD, "ap10"),), _rises,
    ),
    Figure(
        "zhu-xiong-5", _PAPER, "Figure 5", "How large are the groups?",
        "The group size decreases with p, since a lower p needs more profiles together.",
        _OVER_P, "p", "p (lower is more private)", "users in a group, in the mean",
        (Line("linkability", _METHOD, "anonymity_mean"),), _falls,
    ),
    Figure(
        "zhu-xiong-6", _PAPER, "Figure 6", "Is the actual probability of linking within its bound?",
        "The actual linkability is close to but lower than the given bound.",
        _OVER_P, "p", "the bound p", "actual linking probability",
        (Line("the mean", _METHOD, "linking_mean"), Line("the largest", _METHOD, "linking_max")), _below, bound="x",
    ),
)  # fmt: skip
