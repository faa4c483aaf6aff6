"""How does a result look? One description per picture, from which its SVG and its PNG are made."""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import altair as alt
import vl_convert

# Okabe and Ito's colours, which the colour-blind tell apart, without yellow and black; then darker ones.
COLOURS = (
    "#0072B2", "#E69F00", "#009E73", "#D55E00", "#CC79A7", "#56B4E9", "#7A4A1E", "#332288", "#8A8D00", "#882255",
)  # fmt: skip
SHAPES = ("circle", "square", "triangle-up", "diamond", "cross", "triangle-down", "triangle-right", "triangle-left")
DASHES: tuple[tuple[int, ...], ...] = ((1, 0), (7, 3), (2, 2), (10, 3, 2, 3), (5, 2, 2, 2, 2, 2), (12, 4), (3, 5))
CONTROL_COLOUR = "#222222"
_FONT = "DejaVu Sans, Verdana, Arial, sans-serif"
_PIXELS = 2.0  # of a PNG, per point

Data = list[dict[str, Any]]


@dataclass(frozen=True)
class Styles:
    """Colour, mark and dash of every curve: the same curve looks the same in all pictures, also without colour."""

    names: tuple[str, ...]

    def used(self, data: Data) -> list[str]:
        there = {row["curve"] for row in data}
        return [name for name in self.names if name in there]

    def colour(self, data: Data, title: str | None) -> alt.Color:
        return alt.Color("curve:N", scale=self._scale(data, COLOURS), legend=legend(title))

    def shape(self, data: Data, title: str | None) -> alt.Shape:
        return alt.Shape("curve:N", scale=self._scale(data, SHAPES), legend=legend(title))

    def dash(self, data: Data) -> alt.StrokeDash:
        """Without a legend of its own: the marks on a line tell which it is."""
        return alt.StrokeDash("curve:N", scale=self._scale(data, DASHES), legend=None)

    def _scale(self, data: Data, values: Sequence[Any]) -> alt.Scale:
        used = self.used(data)
        return alt.Scale(domain=used, range=[values[self.names.index(name) % len(values)] for name in used])


def legend(title: str | None) -> alt.Legend:
    """Beside the data, never over it."""
    return alt.Legend(title=title, orient="right", symbolSize=110, symbolOpacity=1, symbolStrokeWidth=0, labelLimit=260)


def axis(**given: Any) -> alt.Axis:
    return alt.Axis(titlePadding=8, labelSeparation=8, **given)


def curves(data: Data, x: alt.X, y: alt.Y, styles: Styles, title: str | None = None) -> Any:
    """Lines with marks, one per `curve`, in the order of `step`; with `low` and `high`, intervals too.

    Each row of the data has x and y, its curve and step, and a text `tell` for those who point at its mark.
    """
    base = alt.Chart(alt.Data(values=data)).encode(x=x, y=y)
    colour = styles.colour(data, title)
    line = base.mark_line(strokeWidth=2, opacity=0.8).encode(color=colour, strokeDash=styles.dash(data), order="step:Q")
    mark = base.mark_point(size=70, filled=True, opacity=1).encode(
        color=colour, shape=styles.shape(data, title), description="tell:N"
    )
    return alt.layer(*_intervals(base, data, x, colour), line, mark)


def _intervals(base: alt.Chart, data: Data, x: alt.X, colour: Any) -> list[alt.Chart]:
    if not any("low" in row for row in data):
        return []
    rule = base.mark_rule(strokeWidth=1.2, opacity=0.7)
    return [rule.encode(x=x, y="low:Q", y2="high:Q", color=colour)]


def finished(
    chart: Any, title: str, below: str | list[str] = "", width: int = 620, height: int = 400
) -> dict[str, Any]:
    """The description of a picture, in plain data; `below` are smaller lines under its title."""
    return titled(chart.properties(width=width, height=height), title, below)


def titled(chart: Any, title: str | list[str], below: str | list[str] = "") -> dict[str, Any]:
    """The same of a chart whose parts have their sizes already."""
    more: dict[str, Any] = {"subtitle": below, "subtitleColor": "#555555", "subtitleFontSize": 12} if below else {}
    heading = alt.Title(title, anchor="start", fontSize=15, offset=12, **more)
    whole = chart.properties(title=heading, background="white", padding=12)
    themed = whole.configure(font=_FONT).configure_axis(
        labelFontSize=12, titleFontSize=13, titleFontWeight="normal", gridColor="#e6e6e6", labelColor="#222222"
    )
    themed = themed.configure_legend(labelFontSize=12, titleFontSize=12).configure_view(stroke="#bbbbbb")
    return themed.to_dict()


def svg(description: dict[str, Any]) -> str:
    return str(vl_convert.vegalite_to_svg(description))


def png(description: dict[str, Any]) -> bytes:
    return bytes(vl_convert.vegalite_to_png(description, scale=_PIXELS))


def write_picture(folder: Path, name: str, description: dict[str, Any]) -> str:
    """NAME.svg and NAME.png in the folder, whole or not at all; the text of the SVG."""
    text = svg(description)
    for ending, content in ((".svg", text.encode()), (".png", png(description))):
        temporary = folder / f".{name}{ending}.{os.getpid()}"
        temporary.write_bytes(content)
        os.replace(temporary, folder / f"{name}{ending}")
    return text
