"""How does a figure of a paper look with our numbers? Its points, its picture, and the claim beside what we see."""

from collections.abc import Sequence
from typing import Any

import altair as alt

from shoal.anonymizer.registry import find_method
from shoal.evaluation.experiment.settings import written
from shoal.evaluation.figures import Figure, Line, Seen, all_figures
from shoal.evaluation.report.blocks import Block, Heading, Picture, Text
from shoal.evaluation.report.plots import CONTROL_COLOUR, Styles, axis, curves, finished
from shoal.evaluation.report.points import parameters
from shoal.evaluation.run.results import Row


def figure_blocks(rows: Sequence[Row]) -> list[Block]:
    """Every figure of which the rows hold enough, the paper's claim beside what we see."""
    blocks: list[Block] = []
    missing = []
    for figure in all_figures():
        drawn = _blocks(figure, rows)
        blocks += drawn
        if not drawn:
            missing.append(f"{figure.paper}, {figure.number}")
    if not blocks:
        return []
    note = f" Left out, for want of settings: {'; '.join(missing)}." if missing else ""
    introduction = (
        "The same curves as in the papers, from this experiment's log. `shoal evaluate --figures` measures all that "
        f"they need.{note}"
    )
    return [Heading("The papers' figures, from our runs", 2), Text(introduction), *blocks]


def points_of(figure: Figure, rows: Sequence[Row]) -> Seen:
    """The points of each line that has any."""
    found = {line.label: _points(line, figure.x, rows) for line in figure.lines}
    return {label: points for label, points in found.items() if points}


def _points(line: Line, x: str, rows: Sequence[Row]) -> list[tuple[float, float]]:
    """The rows whose other parameters are as the line wants them. A method without the parameter has one value."""
    info = find_method(line.method).info
    defaults = {parameter.name: written(parameter.default) for parameter in info.parameters}
    points: dict[float, float] = {}
    for row in rows:
        if row["method"] != line.method or line.column not in row:
            continue
        values = defaults | parameters(row)
        place = values.pop(x, "nan")
        wanted = {name: value for name, value in (defaults | line.fixed).items() if name != x}
        if values == wanted and _is_number(place):
            points[float(place)] = row[line.column]
    return sorted(points.items())


def _is_number(text: str) -> bool:
    return text.replace(".", "", 1).isdecimal() or text == "nan"


def _blocks(figure: Figure, rows: Sequence[Row]) -> list[Block]:
    seen = points_of(figure, rows)
    needed = {figure.lines[0].label, *figure.needs}
    if not needed <= seen.keys() or not any(len(points) > 1 for points in seen.values()):
        return []
    return [
        Heading(f"{figure.paper}, {figure.number}: {figure.title}", 3),
        Text(f"**The paper:** {figure.claim}"),
        Text(figure.see(seen)),
        Picture(figure.id, picture(figure, seen), f"{figure.paper}, {figure.number}, drawn from our run."),
    ]


def picture(figure: Figure, seen: Seen) -> dict[str, Any]:
    wide = {label: points for label, points in seen.items() if points[0][0] == points[0][0]}
    places = sorted({x for points in wide.values() for x, _ in points})
    data = [point for label, points in seen.items() for point in _data(label, points, places)]
    scale = alt.Scale(type="log", nice=False, padding=12) if figure.logarithmic else alt.Scale(zero=False, padding=12)
    ticks = axis(values=places, format="~g") if len(places) <= 8 else axis(format="~g")
    x = alt.X("x:Q", title=figure.x_title, scale=scale, axis=ticks)
    y = alt.Y("y:Q", title=figure.y_title, axis=axis(), scale=alt.Scale(zero=False, nice=True))
    parts: list[Any] = [curves(data, x, y, Styles(tuple(line.label for line in figure.lines)))]
    if figure.bound:
        parts += _bound(figure.bound, places, x, y)
    return finished(alt.layer(*parts), figure.title, f"{figure.paper}, {figure.number}, from our run", 460, 300)


def _data(label: str, points: list[tuple[float, float]], places: list[float]) -> list[dict[str, Any]]:
    """What has no such parameter is a level line."""
    if points[0][0] != points[0][0]:
        points = [(x, points[0][1]) for x in places]
    return [
        {"x": x, "y": y, "curve": label, "step": step, "tell": f"{label}: {y:.4g} at {x:g}"}
        for step, (x, y) in enumerate(points)
    ]


def _bound(bound: str, places: list[float], x: alt.X, y: alt.Y) -> list[Any]:
    value = {"x": lambda place: place, "1/x": lambda place: 1 / place}[bound]
    name = {"x": "the bound", "1/x": "the floor, 1/k"}[bound]
    data = [{"x": place, "y": value(place), "name": name} for place in places]
    base = alt.Chart(alt.Data(values=data)).encode(x=x, y=y)
    last = alt.Chart(alt.Data(values=data[-1:])).encode(x=x, y=y, text="name:N")
    label = last.mark_text(align="right", dx=-4, dy=12, fontSize=12, fontStyle="italic", color=CONTROL_COLOUR)
    return [base.mark_line(color=CONTROL_COLOUR, strokeDash=[1, 3], strokeWidth=1.5), label]
