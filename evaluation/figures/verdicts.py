"""Do our points show what a paper claims? Each part of a claim, at every point that it speaks of, and the verdict.

A part is seen, or it is otherwise, or the intervals do not let one tell: what is true of all values within them is
true, what is true of none is not.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import pairwise
from math import inf
from typing import Literal, NamedTuple

from shoal.evaluation.figures import Curves, Panels, Part, Point

Way = Literal["below", "above"]
Trend = Literal["rises", "falls"]


class Range(NamedTuple):
    """What a number made of several points may be, if each of them may be anywhere in its interval."""

    low: float
    high: float

    def within(self, low: float, high: float) -> bool | None:
        if low <= self.low and self.high <= high:
            return True
        return False if self.high < low or high < self.low else None

    def is_below(self, other: "Range") -> bool | None:
        """Surely lower, surely not, or it cannot be told; what is the same cannot be told apart."""
        return True if self.high < other.low else False if other.high < self.low else None


def interval(point: Point) -> Range:
    return Range(point.low, point.high)


def difference(a: Point, b: Point) -> Range:
    return Range(a.low - b.high, a.high - b.low)


def more(a: Point, b: Point) -> Range:
    """How much more a is than b, as a share of b; anything, where b may be nothing."""
    return Range(a.low / b.high - 1, a.high / b.low - 1) if b.low > 0 else Range(-inf, inf)


def compared(panels: Panels, one: str, way: Way, other: str, says: str) -> Part:
    """One curve below or above another wherever both have a point."""
    pairs = [pair for curves in panels.values() for pair in at_shared(curves, one, other)]
    shown = tuple(_is(way, a, b) for a, b in pairs)
    return Part(says, shown, f"{counted(shown)} ({one} differs by {spread(pairs)})" if pairs else "")


def counted(shown: Sequence[bool | None]) -> str:
    """At how many points something is so, is the other way, and cannot be told."""
    found = Counter(shown)
    rest = ((False, "the other way at"), (None, "within the intervals at"))
    return ", ".join([f"at {found[True]} of {len(shown)} points", *(f"{t} {found[k]}" for k, t in rest if found[k])])


def _is(way: Way, a: Point, b: Point) -> bool | None:
    first, second = (a, b) if way == "below" else (b, a)
    return interval(first).is_below(interval(second))


def spread(pairs: Sequence[tuple[Point, Point]]) -> str:
    """The smallest and the largest difference, in per cent where that has a meaning."""
    shares = [100 * (a.y / b.y - 1) for a, b in pairs if b.y]
    found, form, unit = (shares, "+.0f", " %") if shares else ([a.y - b.y for a, b in pairs], "+.3f", "")
    low, high = (format(value, form) for value in (min(found), max(found)))
    return f"{low}{unit}" if low == high else f"{low} to {high}{unit}"


def at_shared(curves: Curves, one: str, other: str) -> list[tuple[Point, Point]]:
    """Both curves' points, wherever both have one. A curve without the parameter is level: its point is everywhere."""
    first, second = curves.get(one, []), curves.get(other, [])
    if len(second) == 1 and second[0].x != second[0].x:
        return [(point, second[0]._replace(x=point.x)) for point in first]
    there = {point.x: point for point in second}
    return [(point, there[point.x]) for point in first if point.x in there]


def trend(panels: Panels, label: str, way: Trend, says: str) -> Part:
    """A curve's last point beyond its first."""
    curves = [(title, curves[label]) for title, curves in panels.items() if len(curves.get(label, [])) > 1]
    shown = tuple(_is("below" if way == "rises" else "above", points[0], points[-1]) for _, points in curves)
    told = [f"{f'{title}: ' if len(panels) > 1 else ''}{_span(points)}" for title, points in curves]
    return Part(says, shown, "; ".join(told))


def _span(points: Sequence[Point]) -> str:
    """The values at the ends of a curve, and whether all steps between go one way."""
    steps = {(b.y > a.y) - (b.y < a.y) for a, b in pairwise(points)}
    way = (
        {1: "up at every step", -1: "down at every step"}[steps.pop()] if steps in ({1}, {-1}) else "not at every step"
    )
    return f"{number(points[0].y)} at {points[0].x:g}, {number(points[-1].y)} at {points[-1].x:g}, {way}"


def number(value: float) -> str:
    """Three digits, and none behind the point of a large number."""
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"


def sentence(part: Part) -> str:
    """A part of a claim, whether we see it, and our numbers."""
    seen = {True: "Seen", False: "Otherwise", None: "Cannot be told"}[part.seen]
    return f"{seen}: {part.says}. Ours: {part.told or 'too few points'}."


def verdict(parts: Iterable[Part]) -> str:
    """All of the claim seen, none of it, or how many parts are seen, are otherwise and cannot be told."""
    seen = Counter(part.seen for part in parts)
    if len(seen) == 1:
        return {True: "We see the same", False: "We see otherwise", None: "It cannot be told"}[next(iter(seen))]
    words = ((True, "seen"), (False, "otherwise"), (None, "cannot be told"))
    return f"Of {seen.total()} parts of the claim: " + ", ".join(
        f"{seen[key]} {word}" for key, word in words if seen[key]
    )
