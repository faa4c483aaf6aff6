"""How does a result look? One description per picture, from which its SVG and its PNG are made."""

import os
from pathlib import Path
from textwrap import wrap
from typing import Any

import altair as alt
import vl_convert

from shoal.evaluation.report.styles import Styles

_FONT = "DejaVu Sans, Verdana, Arial, sans-serif"
_PIXELS = 2.0  # of a PNG, per point

Data = list[dict[str, Any]]


def axis(**given: Any) -> alt.Axis:
    """Ticks in plain numbers: 0.001 and 30,000, not 1m and 30k."""
    usual: dict[str, Any] = {"titlePadding": 8, "labelSeparation": 8, "labelOverlap": True, "format": ",~r"}
    return alt.Axis(**(usual | given))


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
    """Bars from `low` to `high`, and from `left` to `right` where the data has such."""
    parts = []
    if any("low" in row for row in data):
        parts.append(base.mark_rule(strokeWidth=1.2, opacity=0.7).encode(x=x, y="low:Q", y2="high:Q", color=colour))
    if any("left" in row for row in data):
        parts.append(base.mark_rule(strokeWidth=1, opacity=0.45).encode(x="left:Q", x2="right:Q", color=colour))
    return parts


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


def narrowed(description: dict[str, Any]) -> dict[str, Any] | None:
    """The same for a phone: the legend below, the title in lines. None of several pictures beside each other."""
    if "width" not in description:
        return None
    title = dict(description["title"])
    for part, letters in (("text", 34), ("subtitle", 46)):
        lines = [title[part]] if isinstance(title.get(part), str) else title.get(part, [])
        title[part] = [some for line in lines for some in wrap(line, letters)]
    config = description["config"]
    legend = config.get("legend", {}) | {"orient": "bottom", "columns": 2}
    return description | {
        "width": 265, "height": min(description["height"], 320), "padding": 4, "title": title,
        "config": config | {"legend": legend},
    }  # fmt: skip


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
