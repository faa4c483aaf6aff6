"""Which colour, mark and dash has a method? The same for good: in every picture, every run and every report."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from math import cos, pi, sin
from typing import Any

import altair as alt

# Okabe and Ito's colours, which the colour-blind tell apart, without yellow and black; then darker ones.
COLOURS = (
    "#0072B2", "#E69F00", "#009E73", "#D55E00", "#CC79A7", "#56B4E9", "#7A4A1E", "#332288", "#8A8D00", "#882255",
)  # fmt: skip
CONTROL_COLOUR = "#222222"


def _polygon(*points: tuple[float, float]) -> str:
    """A mark by its corners, each within -1 and 1."""
    return "M" + "L".join(f"{x:.3g},{y:.3g}" for x, y in points) + "Z"


def _star(spikes: int, inner: float) -> str:
    radii = [1.0 if i % 2 == 0 else inner for i in range(2 * spikes)]
    return _polygon(*((r * sin(pi * i / spikes), -r * cos(pi * i / spikes)) for i, r in enumerate(radii)))


SHAPES = {
    "circle": "circle", "square": "square", "up": "triangle-up", "diamond": "diamond", "plus": "cross",
    "down": "triangle-down", "right": "triangle-right", "left": "triangle-left",
    "star": _star(5, 0.42), "burst": _star(8, 0.6),
    "saltire": _polygon((-.9, -.5), (-.5, -.9), (0, -.4), (.5, -.9), (.9, -.5), (.4, 0), (.9, .5), (.5, .9), (0, .4),
                        (-.5, .9), (-.9, .5), (-.4, 0)),
    "hourglass": _polygon((-.85, -.9), (.85, -.9), (.15, 0), (.85, .9), (-.85, .9), (-.15, 0)),
    "bow": _polygon((-.9, -.85), (0, -.15), (.9, -.85), (.9, .85), (0, .15), (-.9, .85)),
    "chevron": _polygon((-.9, .1), (0, -.8), (.9, .1), (.9, .8), (0, -.05), (-.9, .8)),
    "house": _polygon((0, -1), (.85, -.2), (.85, .9), (-.85, .9), (-.85, -.2)),
    "pentagon": _polygon((0, -1), (.95, -.31), (.59, .81), (-.59, .81), (-.95, -.31)),
    "hexagon": _polygon((-.5, -.87), (.5, -.87), (1, 0), (.5, .87), (-.5, .87), (-1, 0)),
    "tee": _polygon((-.9, -.9), (.9, -.9), (.9, -.35), (.3, -.35), (.3, .9), (-.3, .9), (-.3, -.35), (-.9, -.35)),
    "corner": _polygon((-.9, -.9), (-.3, -.9), (-.3, .3), (.9, .3), (.9, .9), (-.9, .9)),
    "arrow": _polygon((0, -1), (1, .2), (.35, .2), (.35, .9), (-.35, .9), (-.35, .2), (-1, .2)),
    "pointer": _polygon((-1, -.35), (.1, -.35), (.1, -.85), (1, 0), (.1, .85), (.1, .35), (-1, .35)),
    "notch": _polygon((-.9, -.9), (.9, -.9), (.9, .9), (.35, .9), (.35, 0), (-.35, 0), (-.35, .9), (-.9, .9)),
    "bar": _polygon((-1, -.35), (1, -.35), (1, .35), (-1, .35)),
    "post": _polygon((-.35, -1), (.35, -1), (.35, 1), (-.35, 1)),
    "kite": _polygon((0, -1), (.7, -.35), (0, 1), (-.7, -.35)),
    "tub": _polygon((-.9, -.8), (-.3, -.8), (-.3, .1), (.3, .1), (.3, -.8), (.9, -.8), (.9, .9), (-.9, .9)),
    "anvil": _polygon((-1, -.8), (1, -.8), (.4, .8), (-.4, .8)),
    "flag": _polygon((-.8, -.9), (.9, -.9), (.3, 0), (.9, .9), (-.8, .9)),
}  # fmt: skip
DASHES: tuple[tuple[int, ...], ...] = ((1, 0), (7, 3), (2, 2), (10, 3, 2, 3), (5, 2, 2, 2, 2, 2), (12, 4), (3, 5))


@dataclass(frozen=True)
class Style:
    """How the curves of a method look. No two methods of this program share a mark, so that print tells them apart."""

    colour: str
    shape: str
    dash: tuple[int, ...]


METHODS = {
    "linkability": Style(COLOURS[0], SHAPES["circle"], DASHES[0]),
    "clump": Style(COLOURS[1], SHAPES["square"], DASHES[1]),
    "partition": Style(COLOURS[2], SHAPES["up"], DASHES[2]),
    "ssc": Style(COLOURS[3], SHAPES["diamond"], DASHES[3]),
    "microaggregation": Style(COLOURS[4], SHAPES["plus"], DASHES[4]),
    "affinity": Style(COLOURS[5], SHAPES["down"], DASHES[5]),
    "equality": Style(COLOURS[6], SHAPES["right"], DASHES[6]),
    "wordnet-queries": Style(COLOURS[7], SHAPES["star"], DASHES[0]),
    "common": Style(COLOURS[8], SHAPES["saltire"], DASHES[1]),
    "murmur": Style(COLOURS[9], SHAPES["hourglass"], DASHES[2]),
    "floc": Style(COLOURS[1], SHAPES["chevron"], DASHES[4]),
    "device": Style(COLOURS[0], SHAPES["bow"], DASHES[3]),
    "cahd": Style(COLOURS[2], SHAPES["house"], DASHES[5]),
    "apriori": Style(COLOURS[4], SHAPES["anvil"], DASHES[5]),
    "secret-sharing": Style(COLOURS[2], SHAPES["pentagon"], DASHES[0]),
    "dp-queries": Style(COLOURS[3], SHAPES["hexagon"], DASHES[1]),
    "dp-average": Style(COLOURS[4], SHAPES["tee"], DASHES[2]),
    "uncertainty": Style(COLOURS[6], SHAPES["notch"], DASHES[3]),
    "coherence": Style(COLOURS[4], SHAPES["pointer"], DASHES[0]),
    "hghs": Style(COLOURS[5], SHAPES["tub"], DASHES[6]),
    "token-hashing": Style(COLOURS[7], SHAPES["corner"], DASHES[3]),
    "split-personality": Style(COLOURS[8], SHAPES["arrow"], DASHES[4]),
    "random": Style(CONTROL_COLOUR, SHAPES["left"], (1, 3)),
}
# Of methods of other packages, by a hash of their id.
_OTHERS = [
    Style(colour, SHAPES[shape], DASHES[(i + j) % len(DASHES)])
    for j, shape in enumerate(("burst", "bar", "kite", "flag", "post"))
    for i, colour in enumerate(COLOURS)
]


def style_of(method: str) -> Style:
    if method in METHODS:
        return METHODS[method]
    return _OTHERS[int.from_bytes(hashlib.sha256(method.encode()).digest()[:4]) % len(_OTHERS)]


@dataclass(frozen=True)
class Styles:
    """Colour, mark and dash of curves. One that begins with `method` has the method's, and another dash if not alone.

    Curves that are of no method (`is_method` is false) are styled in their order.
    """

    names: tuple[str, ...]
    is_method: bool = True

    def style(self, name: str) -> Style:
        if not self.is_method:
            i = self.names.index(name)
            shapes = list(SHAPES.values())
            return Style(COLOURS[i % len(COLOURS)], shapes[i % len(shapes)], DASHES[i % len(DASHES)])
        method = name.split()[0]
        style = style_of(method)
        same = [other for other in self.names if other.split()[0] == method].index(name)
        return Style(style.colour, style.shape, _dash(style.dash, same))

    def used(self, data: Sequence[dict[str, Any]]) -> list[str]:
        there = {row["curve"] for row in data}
        return [name for name in self.names if name in there]

    def colour(self, data: Sequence[dict[str, Any]], title: str | None) -> alt.Color:
        return alt.Color("curve:N", scale=self._scale(data, "colour"), legend=legend(title))

    def shape(self, data: Sequence[dict[str, Any]], title: str | None) -> alt.Shape:
        return alt.Shape("curve:N", scale=self._scale(data, "shape"), legend=legend(title))

    def dash(self, data: Sequence[dict[str, Any]]) -> alt.StrokeDash:
        """Without a legend of its own: the marks on a line tell which it is."""
        return alt.StrokeDash("curve:N", scale=self._scale(data, "dash"), legend=None)

    def _scale(self, data: Sequence[dict[str, Any]], part: str) -> alt.Scale:
        used = self.used(data)
        return alt.Scale(domain=used, range=[getattr(self.style(name), part) for name in used])


def _dash(first: tuple[int, ...], number: int) -> tuple[int, ...]:
    return DASHES[(DASHES.index(first) + number) % len(DASHES)] if first in DASHES else first


def legend(title: str | None) -> alt.Legend:
    """Beside the data or, in a narrow picture, below it; never over it."""
    return alt.Legend(title=title, symbolSize=110, symbolOpacity=1, symbolStrokeWidth=0, labelLimit=260)
