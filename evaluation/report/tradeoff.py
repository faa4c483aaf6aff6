"""How much precision at which risk? The picture of all methods, with intervals, controls and the front."""

from collections.abc import Sequence
from typing import Any

import altair as alt

from shoal.evaluation.measures.registry import columns
from shoal.evaluation.report.plots import axis, curves, finished
from shoal.evaluation.report.points import Curve, curves_of, front, having, is_control, name_of
from shoal.evaluation.report.styles import CONTROL_COLOUR, SHAPES, Styles
from shoal.evaluation.run.results import Row

_CONTROL_MARKS = {"plain": "square", "everyone": "circle", "original": "diamond", "device": SHAPES["bow"]}
_ALIKE = ("plain", "everyone")  # often side by side: the name of one stands above its mark, of the other below
_LEGEND = "grey band: no setting is better on both; bars: 95 % intervals over people; open marks: controls"
_APART = alt.Resolve(scale=alt.ScaleResolveMap(color="independent", shape="independent"))


def tradeoff(
    rows: Sequence[Row],
    precision: str,
    risk: str,
    title: str,
    named: str = "",
    tolerance: float = 0.0,
) -> dict[str, Any] | None:
    """The picture, or None where no method has both measures. `named` is the precision's name, if not the usual.

    Risks that differ by less than the tolerance are the same to the front.
    """
    made = curves_of(rows)
    curved = [curve for curve in made if not is_control(curve.rows[0])]
    methods = [curve for curve in curved if having(curve.rows, precision, risk)]
    if not methods:
        return None
    styles = Styles(tuple(curve.name for curve in curved))  # of all: a method looks the same in every picture
    x = alt.X(
        "x:Q",
        title=f"{_axis_title(risk)}   (less risk is left)",
        scale=_risk_scale(rows, risk),
        axis=_risk_axis(rows, risk),
    )
    y = alt.Y("y:Q", title=named or _axis_title(precision), axis=axis(), scale=alt.Scale(zero=False, nice=True))
    drawn = curves([p for c in methods for p in _points(c, precision, risk)], x, y, styles, title="method")
    band = _front(front(rows, precision, risk, tolerance), precision, risk, x, y)
    parts: list[Any] = [band, drawn, *_controls(made, precision, risk, x, y)]
    return finished(alt.layer(*parts, resolve=_APART), title, _LEGEND)


def _axis_title(name: str) -> str:
    """The name as papers write it, and what it is."""
    column = columns()[name]
    return column.title if column.short == column.title else f"{column.short}: {column.title.lower()}"


def _points(curve: Curve, precision: str, risk: str) -> list[dict[str, Any]]:
    return [
        {"x": row[risk], "y": row[precision], "curve": curve.name, "step": step, "tell": tell(row, precision, risk)}
        | _interval(row, precision, "low", "high")
        | _interval(row, risk, "left", "right")
        for step, row in enumerate(having(curve.rows, precision, risk))
    ]


def tell(row: Row, precision: str, risk: str) -> str:
    return f"{name_of(row)}: {precision} {row[precision]:.3f}, {risk} {row[risk]:.3g}"


def _interval(row: Row, name: str, least: str, most: str) -> dict[str, float]:
    """The bootstrap interval over people; none that reaches a risk of 0, which a logarithm does not."""
    low, high = row.get(f"{name}_low"), row.get(f"{name}_high")
    return {} if low is None or high is None or (least == "left" and low <= 0) else {least: low, most: high}


def _risk_scale(rows: Sequence[Row], risk: str) -> alt.Scale:
    """Logarithmic where no risk is 0: what matters lies between one in a thousand and one in five."""
    values = [row[risk] for row in having(rows, risk)]
    if min(values) > 0:
        return alt.Scale(type="log", nice=False, padding=12)
    return alt.Scale(domain=[-0.02 * max(values), 1.04 * max(values)] if max(values) else [-0.01, 1])


def _risk_axis(rows: Sequence[Row], risk: str) -> alt.Axis:
    """Ticks at 0.001, 0.003, 0.01 and so on, where the scale is logarithmic."""
    values = [row[risk] for row in having(rows, risk)]
    if min(values) <= 0:
        return axis()
    ticks = [float(f"{digit}e{power}") for power in range(-9, 1) for digit in (1, 3)]
    inside = [tick for tick in ticks if min(values) / 1.2 <= tick <= max(values) * 1.2]
    return axis(values=inside) if len(inside) > 1 else axis()


def _front(on_it: Sequence[Row], precision: str, risk: str, x: alt.X, y: alt.Y) -> alt.Chart:
    data = [{"x": row[risk], "y": row[precision]} for row in on_it]
    base = alt.Chart(alt.Data(values=data)).encode(x=x, y=y)
    return base.mark_line(interpolate="step-after", strokeWidth=7, opacity=0.3, color="#999999")


def _controls(made: Sequence[Curve], precision: str, risk: str, x: alt.X, y: alt.Y) -> list[alt.Chart]:
    parts: list[alt.Chart] = []
    controls = [curve for curve in made if is_control(curve.rows[0]) and having(curve.rows, precision, risk)]
    alike = [curve for curve in controls if curve.method in _ALIKE]
    upper = max(alike, key=lambda curve: having(curve.rows, precision, risk)[0][precision], default=None)
    for curve in controls:
        data = _points(curve, precision, risk)
        base = alt.Chart(alt.Data(values=data)).encode(x=x, y=y)
        shape = _CONTROL_MARKS.get(curve.method, "circle")
        if len(data) > 1:
            line = base.mark_line(color=CONTROL_COLOUR, strokeDash=[1, 3], strokeWidth=1.5)
            parts.append(line.encode(order=alt.Order("step:Q")))
        mark = base.mark_point(shape=shape, size=80, color=CONTROL_COLOUR, fill="white", strokeWidth=1.8, opacity=1)
        parts.append(mark.encode(description=alt.Description("tell:N")))
        parts.append(_label(data, curve, curve is upper, x, y))
    return parts


def _label(data: list[dict[str, Any]], curve: Curve, is_upper: bool, x: alt.X, y: alt.Y) -> alt.Chart:
    """The name of a control beside its mark (of several, the least risky), to the side where there is room."""
    one = min(data, key=lambda point: point["x"])
    last = curve.method == "original"
    text = alt.Chart(alt.Data(values=[one | {"name": curve.name}])).mark_text(
        align="right" if last else "left", dx=-8 if last else 9, dy=-10 if last or is_upper else 14, fontSize=12,
        color=CONTROL_COLOUR, fontStyle="italic",
    )  # fmt: skip
    return text.encode(x=x, y=y, text=alt.Text("name:N"))
