"""Do our points show what a paper claims? Each part of a claim, at every point that it speaks of, and the verdict."""

from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Literal

from shoal.evaluation.figures import Curves, Panels, Part, Point

Way = Literal["below", "above"]


def compared(panels: Panels, one: str, way: Way, other: str, says: str) -> Part:
    """One curve below or above another wherever both have a point, by more than the intervals."""
    pairs = [pair for curves in panels.values() for pair in at_shared(curves, one, other)]
    shown = [_is(way, a, b) for a, b in pairs]
    opposite: Way = "above" if way == "below" else "below"
    against = sum(_is(opposite, a, b) for a, b in pairs)
    unclear = len(shown) - sum(shown) - against
    told = [f"at {sum(shown)} of {len(shown)} points"]
    told += [f"the other way at {against}"] * bool(against) + [f"within the intervals at {unclear}"] * bool(unclear)
    return Part(says, tuple(shown), f"{', '.join(told)} ({one} differs by {_spread(pairs)})")


def _is(way: Way, a: Point, b: Point) -> bool:
    return a.is_below(b) if way == "below" else b.is_below(a)


def _spread(pairs: Sequence[tuple[Point, Point]]) -> str:
    """The smallest and the largest difference, in per cent where that has a meaning."""
    found = [100 * (a.y / b.y - 1) for a, b in pairs if b.y]
    if not found:
        return "nothing that can be told"
    low, high = min(found), max(found)
    return f"{low:+.0f} %" if f"{low:+.0f}" == f"{high:+.0f}" else f"{low:+.0f} to {high:+.0f} %"


def at_shared(curves: Curves, one: str, other: str) -> list[tuple[Point, Point]]:
    """Both curves' points, wherever both have one. A curve without the parameter is level: its point is everywhere."""
    first, second = curves.get(one, []), curves.get(other, [])
    if len(second) == 1 and second[0].x != second[0].x:
        return [(point, second[0]._replace(x=point.x)) for point in first]
    there = {point.x: point for point in second}
    return [(point, there[point.x]) for point in first if point.x in there]


def trend(panels: Panels, label: str, way: Literal["rises", "falls"], says: str) -> Part:
    """A curve's last point beyond its first by more than the intervals."""
    curves = [(title, curves[label]) for title, curves in panels.items() if len(curves.get(label, [])) > 1]
    shown = [_is("below" if way == "rises" else "above", points[0], points[-1]) for _, points in curves]
    told = [f"{f'{title}: ' if len(panels) > 1 else ''}{span(points, way)}" for title, points in curves]
    return Part(says, tuple(shown), "; ".join(told))


def span(points: Sequence[Point], way: Literal["rises", "falls"]) -> str:
    """The values at the ends of a curve, and whether all steps between go one way."""
    steps = [b.y - a.y if way == "rises" else a.y - b.y for a, b in pairwise(points)]
    ends = f"{number(points[0].y)} at {points[0].x:g}, {number(points[-1].y)} at {points[-1].x:g}"
    return f"{ends}, {'at every step' if all(step > 0 for step in steps) else 'not at every step'}"


def number(value: float) -> str:
    return f"{value:.3f}" if abs(value) < 10 else f"{value:,.0f}"


def verdict(parts: Iterable[Part]) -> str:
    """All of the claim seen, a part, or none. A part counts as seen where every point that it speaks of shows it."""
    found = [part for part in parts if part.shown]
    seen = sum(all(part.shown) for part in found)
    some = any(any(part.shown) for part in found)
    if not found:
        return "Too few settings to tell"
    if seen == len(found):
        return "We see the same"
    return f"We see a part of it: {seen} of {len(found)}" if some else "We do not see this"
