"""What do points say? The few sentences in which a figure's claim is held against what was measured."""

from collections.abc import Iterable
from itertools import pairwise

from shoal.evaluation.figures import Seen

Points = list[tuple[float, float]]


def trend(points: Points) -> str:
    """Whether a curve rises, falls, or neither, from its first point to its last."""
    values = [y for _, y in points]
    steps = [b - a for a, b in pairwise(values)]
    spread = (max(values) - min(values)) / max(abs(value) for value in values) if any(values) else 0.0
    if spread < 0.01:
        return "stays the same"
    if all(step >= 0 for step in steps):
        return "rises"
    if all(step <= 0 for step in steps):
        return "falls"
    return (
        "rises on the whole, not at every step" if values[-1] > values[0] else "falls on the whole, not at every step"
    )


def span(points: Points) -> str:
    """The values at the ends of a curve."""
    return f"{written(points[0][1])} at {points[0][0]:g} to {written(points[-1][1])} at {points[-1][0]:g}"


def written(value: float) -> str:
    return f"{value:.3f}" if abs(value) < 10 else f"{value:,.0f}"


def each_trend(seen: Seen) -> str:
    return "; ".join(f"{label} {trend(points)} ({span(points)})" for label, points in seen.items() if len(points) > 1)


def at_shared(seen: Seen, one: str, other: str) -> list[tuple[float, float, float]]:
    """x, and both curves' values there, wherever both have a point."""
    first, second = dict(seen.get(one, [])), dict(seen.get(other, []))
    return [(x, first[x], second[x]) for x in sorted(first.keys() & second.keys())]


def compared(seen: Seen, one: str, other: str, more: str = "above", less: str = "below") -> str:
    """At how many of the shared x one curve is above another."""
    shared = at_shared(seen, one, other)
    if not shared:
        return ""
    above, below = (sum(sign * (a - b) > 1e-9 for _, a, b in shared) for sign in (1, -1))
    parts = [f"{more} at {above}" if above else "", f"{less} at {below}" if below else ""]
    told = " and ".join(part for part in parts if part) or "equal at all"
    return f"{one} is {told} of {len(shared)} points, compared with {other}"


def verdict(checks: Iterable[bool], why: str) -> str:
    """All parts of the claim seen, some, or none."""
    found = list(checks)
    if not found:
        return f"**Too few settings in common to tell**: {why}."
    told = "We see the same" if all(found) else "We see a part of it" if any(found) else "We do not see this"
    return f"**{told}**: {why}."
