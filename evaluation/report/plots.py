"""How does a result look? One description per picture, from which its SVG and its PNG are made."""

import os
from collections.abc import Sequence
from pathlib import Path
from textwrap import wrap
from typing import Any

import altair as alt
import vl_convert

from shoal.evaluation.report.blocks import Block, Picture
from shoal.evaluation.report.styles import Styles

_FONT = "DejaVu Sans, Verdana, Arial, sans-serif"
_PIXELS = 2.0  # of a PNG, per point
_CONFIG: dict[str, Any] = {
    "font": _FONT,
    "axis": {
        "labelFontSize": 12, "titleFontSize": 13, "titleFontWeight": "normal", "gridColor": "#e6e6e6",
        "labelColor": "#222222",
    },
    "legend": {"labelFontSize": 12, "titleFontSize": 12},
}  # fmt: skip

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
    line = base.mark_line(strokeWidth=2, opacity=0.8).encode(
        color=colour, strokeDash=styles.dash(data), order=alt.Order("step:Q")
    )
    mark = base.mark_point(size=70, filled=True, opacity=1).encode(
        color=colour, shape=styles.shape(data, title), description=alt.Description("tell:N")
    )
    return alt.layer(*_intervals(base, data, x, colour), line, mark)


def _intervals(base: alt.Chart, data: Data, x: alt.X, colour: Any) -> list[alt.Chart]:
    """Bars from `low` to `high`, and from `left` to `right` where the data has such."""
    parts = []
    if any("low" in row for row in data):
        parts.append(
            base.mark_rule(strokeWidth=1.2, opacity=0.7).encode(
                x=x, y=alt.Y("low:Q"), y2=alt.Y2("high:Q"), color=colour
            )
        )
    if any("left" in row for row in data):
        parts.append(
            base.mark_rule(strokeWidth=1, opacity=0.45).encode(x=alt.X("left:Q"), x2=alt.X2("right:Q"), color=colour)
        )
    return parts


def finished(
    chart: Any, title: str, below: str | list[str] = "", width: int = 620, height: int = 400
) -> dict[str, Any]:
    """The description of a picture, in plain data; `below` are smaller lines under its title."""
    return titled(chart, title, below) | {"width": width, "height": height}


def titled(chart: Any, title: str | list[str], below: str | list[str] = "") -> dict[str, Any]:
    """The same of a chart whose parts have their sizes already.

    All but the chart is added to its description: a chart of layers copies them several times with every change.
    """
    more = {"subtitle": below, "subtitleColor": "#555555", "subtitleFontSize": 12} if below else {}
    heading = {"text": title, "anchor": "start", "fontSize": 15, "offset": 12, **more}
    described: dict[str, Any] = chart.to_dict(validate=False)
    config = described["config"] | _CONFIG | {"view": described["config"]["view"] | {"stroke": "#bbbbbb"}}
    return described | {"title": heading, "background": "white", "padding": 12, "config": config}


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


def png(drawn: str) -> bytes:
    """The same picture in dots, from the text of its SVG."""
    return bytes(vl_convert.svg_to_png(drawn, scale=_PIXELS))


def write_pictures(folder: Path, blocks: Sequence[Block]) -> dict[str, str]:
    """The pictures of a report as files, and the texts of their SVG by name."""
    return {b.name: write_picture(folder, b.name, b.description) for b in blocks if isinstance(b, Picture)}


def write_picture(folder: Path, name: str, description: dict[str, Any]) -> str:
    """NAME.svg and NAME.png in the folder, whole or not at all; the text of the SVG."""
    text = svg(description)
    for ending, content in ((".svg", text.encode()), (".png", png(text))):
        temporary = folder / f".{name}{ending}.{os.getpid()}"
        temporary.write_bytes(content)
        os.replace(temporary, folder / f"{name}{ending}")
    return text
