"""How does a figure of a paper look with our numbers? Its panels and curves, and the claim beside what we see."""

from collections.abc import Sequence
from math import inf
from textwrap import wrap
from typing import Any

import altair as alt

from shoal.anonymizer.registry import find_method
from shoal.evaluation.experiment.settings import written
from shoal.evaluation.figures import Curves, Figure, Line, Panels, Part, Point, all_figures
from shoal.evaluation.figures.running import PEOPLE, FigureResults
from shoal.evaluation.figures.thesis import DENSITY
from shoal.evaluation.figures.verdicts import sentence, verdict
from shoal.evaluation.report.blocks import Block, Heading, Picture, Points, Table, Text
from shoal.evaluation.report.plots import axis, curves, titled
from shoal.evaluation.report.points import parameters
from shoal.evaluation.report.styles import CONTROL_COLOUR, Styles
from shoal.evaluation.run.results import Row

_SIZES = ((460, 300), (340, 280), (270, 260))  # of a panel, where there are one, two or three


def figure_blocks(found: FigureResults | None, timed: bool = False) -> list[Block]:
    """Every figure that was measured, the paper's claim and set-up beside ours; those of time apart."""
    if found is None:
        return []
    drawn = [block for figure in all_figures() if figure.timed == timed for block in _blocks(figure, found)]
    if not drawn:
        return []
    introduction = (
        "Each in the set-up of its paper, as far as that can be had: AOL's log is not public. A log of "
        f"{PEOPLE:,} users is taken itself; for a smaller one, users simulated over its corpus stand in. A part "
        "of a claim counts as seen where every point that it names shows it by more than the intervals (95 %: of AP@10 "
        "over people, of all others over draws and seeds), as otherwise where one shows the contrary by more than "
        "them; else it cannot be told."
    )
    title = "The papers' figures of time" if timed else "The papers' figures, in the papers' set-ups"
    table = [] if timed else _densities(found)
    return [Heading(title, 2), *([] if timed else [Text(introduction)]), *drawn, *table]


def _blocks(figure: Figure, found: FigureResults) -> list[Block]:
    panels = panels_of(figure, found)
    if not any(len(points) > 1 for curves in panels.values() for points in curves.values()):
        return []
    parts = figure.parts(panels)
    setups = [row for row in found.setups if row["id"] in figure.setups]
    return [
        Heading(f"{figure.paper}, {figure.number}: {figure.title}", 3),
        Text(f"**The paper:** {figure.claim}"),
        Text(f"**Its set-up:** {setups[0]['paper']}. **Ours:** {_ours(setups)}"),
        Text(f"**{verdict(parts)}.**"),
        Points(tuple(sentence(part) for part in parts)),
        Picture(figure.id, picture(figure, panels, setups, parts), f"{figure.paper}, {figure.number}, from our run."),
    ]


def _ours(setups: Sequence[Row]) -> str:
    return " ".join(f"{row['told']}." for row in setups)


def panels_of(figure: Figure, found: FigureResults) -> Panels:
    """The points of each line that has any, set-up by set-up."""
    setups = {row["id"]: row for row in found.setups if row["id"] in figure.setups}
    rows = [
        row | {"users": setups[row["setup"]]["users"]}
        for row in (found.costs if figure.timed else found.rows)
        if row["setup"] in setups
    ]
    if figure.x == "users":
        return {"": _curves(figure, rows)}
    there = {s["title"]: _curves(figure, [row for row in rows if row["setup"] == id]) for id, s in setups.items()}
    return {title: curves for title, curves in there.items() if curves}


def _curves(figure: Figure, rows: Sequence[Row]) -> Curves:
    points = {line.label: _points(line, figure.x, rows) for line in figure.lines}
    return {label: some for label, some in points.items() if some}


def _points(line: Line, x: str, rows: Sequence[Row]) -> list[Point]:
    """The rows whose other parameters are as the line wants them. A method without the parameter has one value."""
    defaults = {name: written(parameter.default) for name, parameter in _parameters(line.method)}
    points: dict[float, Point] = {}
    for row in rows:
        if row["method"] != line.method or line.column not in row:
            continue
        values = defaults | parameters(row)
        place = str(row["users"]) if x == "users" else values.pop(x, "nan")
        wanted = {name: value for name, value in (defaults | line.fixed).items() if name != x}
        if values == wanted and _is_number(place):
            points[float(place)] = _point(float(place), line.column, row)
    return [points[place] for place in sorted(points)]


def _parameters(method: str) -> list[tuple[str, Any]]:
    return [(parameter.name, parameter) for parameter in find_method(method).info.parameters]


def _point(x: float, column: str, row: Row) -> Point:
    names = (column, f"{column}_low", f"{column}_high")
    return Point(x, *(float(row[name if name in row else column]) for name in names))


def _is_number(text: str) -> bool:
    return text.replace(".", "", 1).isdecimal() or text == "nan"


def picture(figure: Figure, panels: Panels, setups: Sequence[Row], parts: Sequence[Part]) -> dict[str, Any]:
    """The panels beside each other; under the title the verdict, what it is made of, and what was drawn."""
    size = _SIZES[min(len(panels), len(_SIZES)) - 1]
    styles = Styles(tuple(line.label for line in figure.lines), is_method=False)
    drawn = [_panel(figure, title if len(panels) > 1 else "", some, styles, size) for title, some in panels.items()]
    whole = alt.hconcat(*drawn, spacing=24) if len(drawn) > 1 else drawn[0]
    lines = [*(f"\u2022 {sentence(part)}" for part in parts), f"{_ours(setups)} Vertical lines are 95 % intervals."]
    width = 40 + size[0] * len(drawn) // 6
    below = [some for line in lines for some in wrap(line, width)]
    return titled(whole, [f"{figure.paper}, {figure.number}: {figure.title}", f"{verdict(parts)}."], below)


def _panel(figure: Figure, title: str, seen: Curves, styles: Styles, size: tuple[int, int]) -> Any:
    places = sorted({point.x for points in seen.values() for point in points if point.x == point.x})
    lowest = min(point.y for points in seen.values() for point in points) / 2 if "y" in figure.logarithmic else -inf
    data = [point for label, points in seen.items() for point in _data(label, points, places, lowest)]
    whole = all(place == int(place) for place in places)
    ticks = axis(values=places, format=",d" if whole else ".2~f")
    x = alt.X("x:Q", title=figure.x_title, scale=_scale("x" in figure.logarithmic), axis=ticks)
    y = alt.Y(
        "y:Q", title=figure.y_title, scale=_scale("y" in figure.logarithmic, zero=figure.timed), axis=axis(format=",~r")
    )
    parts: list[Any] = [curves(data, x, y, styles)]
    if figure.guide:
        parts += _guide(figure.guide, next(iter(seen.values()))[0], places, x, y)
    return alt.layer(*parts).properties(width=size[0], height=size[1], title=title)


def _scale(logarithmic: bool, zero: bool = False) -> alt.Scale:
    return alt.Scale(type="log" if logarithmic else "linear", zero=zero and not logarithmic, nice=False, padding=12)


def _data(label: str, points: Sequence[Point], places: Sequence[float], lowest: float) -> list[dict[str, Any]]:
    """What has no such parameter is a level line. No interval is drawn below `lowest`: 0 has no place on some axes."""
    if points[0].x != points[0].x:
        points = [points[0]._replace(x=x) for x in places]
    return [
        {"x": p.x, "y": p.y, "low": max(p.low, lowest), "high": p.high, "curve": label, "step": step,
         "tell": f"{label}: {p.y:.4g} at {p.x:g}"}
        for step, p in enumerate(points)
    ]  # fmt: skip


def _guide(guide: str, first: Point, places: Sequence[float], x: alt.X, y: alt.Y) -> list[Any]:
    """A dotted line to compare with; its name stands where it leaves the curves room, left of a rising one."""
    value, name = {
        "x": (lambda place: place, "the bound"),
        "1/x": (lambda place: 1 / place, "the floor, 1/k"),
        "linear": (lambda place: first.y * place / first.x, "linear"),
    }[guide]
    data = [{"x": place, "y": value(place), "name": name} for place in places]
    base = alt.Chart(alt.Data(values=data)).encode(x=x, y=y)
    falls = data[0]["y"] > data[-1]["y"]
    named = alt.Chart(alt.Data(values=data[:1] if falls else data[-1:])).encode(x=x, y=y, text=alt.Text("name:N"))
    label = named.mark_text(
        align="left" if falls else "right", dx=10 if falls else -12, dy=-6, fontSize=12, fontStyle="italic",
        color=CONTROL_COLOUR,
    )  # fmt: skip
    return [base.mark_line(color=CONTROL_COLOUR, strokeDash=[1, 3], strokeWidth=1.5), label]


def _densities(found: FigureResults) -> list[Block]:
    """The thesis's Table 6.1."""
    rows = tuple(
        (row["title"], f"{DENSITY[row['id']]:.2f} %", f"{100 * row['density']:.3f} %")
        for row in found.setups
        if row["id"] in DENSITY
    )
    caption = (
        "Milani Fard 2010, Table 6.1: how dense the transactions are, in items by users and leaves of the taxonomy. "
        "Ours has three times the leaves, all single nouns of WordNet, and its first users type as much as the others."
    )
    return [Table(("transactions", "the thesis", "ours"), rows, caption=caption)] if rows else []
