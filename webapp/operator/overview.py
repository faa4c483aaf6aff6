"""/admin/: what serves the searchers, what is at work, and how do all releases compare, as a plot?"""

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import altair as alt
from flask import render_template
from markupsafe import Markup

from shoal.webapp.core.activation import history, previous
from shoal.webapp.core.context import database, releases, service
from shoal.webapp.database.models import QUEUED, RUNNING
from shoal.webapp.jobs.evaluation import list_evaluations
from shoal.webapp.jobs.levels import latest_levels
from shoal.webapp.jobs.progress import job_status
from shoal.webapp.operator import active_id, panel, served_log
from shoal.webapp.operator.runs import RunRow, run_rows, shown_measures


@panel.get("/")
def overview() -> str:
    rows = run_rows(database())
    switches = history(database(), service().digest)
    listed = releases().listed()
    of_served = {one.release_id for one in listed}
    return render_template(
        "operator/overview.html",
        active=next((row for row in rows if row.release and row.release.id == active_id()), None),
        switches=switches[:5],
        back=previous(switches),
        busy=[(row, job_status(row.job)) for row in rows if row.job.state in (QUEUED, RUNNING)],
        levels=_levels_at_work(),
        evaluations=[(job, job_status(job)) for job in list_evaluations(database()) if job.state in (QUEUED, RUNNING)],
        picture=precision_risk_svg([row for row in rows if row.release and row.release.id in of_served], active_id()),
        measures=shown_measures(),
        can_activate=[one.release_id for one in listed if one.verdict.holds],
    )


def _levels_at_work() -> dict[str, Any] | None:
    """How far the server is with the releases that it makes by itself."""
    job = latest_levels(database(), served_log())
    return job_status(job) if job is not None and job.state in (QUEUED, RUNNING) else None


WIDTH, HEIGHT = 640, 340
# Light enough for dark pages and dark enough for light ones. Nine colours beside eight shapes: 72 pairs, all distinct.
_COLOURS = ("#0f8a83", "#c1661d", "#6a5fc7", "#b8416a", "#3c7fb8", "#7d8a2e", "#8b6b4a", "#5d6b78", "#a855a0")
_SHAPES = ("circle", "square", "triangle-up", "diamond", "cross", "triangle-down", "triangle-right", "triangle-left")

# The renderer would put another site before an address without one; taken off again below.
_HERE = "http://here.invalid"

Point = tuple[str, int, str, float, float, bool]  # release, run, method, risk, precision, active


def precision_risk_svg(rows: Sequence[RunRow], active: str | None) -> Markup | None:
    """AP@10 against linkage@5; None while no release has both."""
    points = []
    for row in rows:
        risk, precision = row.measured.get("linkage5"), row.measured.get("ap10")
        if row.release is not None and risk is not None and precision is not None:
            points.append((row.release.id, row.number, row.method, risk, precision, row.release.id == active))
    return _draw(tuple(points)) if points else None


@lru_cache(maxsize=16)
def _draw(points: tuple[Point, ...]) -> Markup:
    import vl_convert

    svg: str = vl_convert.vegalite_to_svg(_chart(points).to_dict())
    return Markup(_readable(svg))


def _chart(points: tuple[Point, ...]) -> alt.LayerChart:
    values = [
        {
            "method": method, "risk": risk, "precision": precision, "active": active,
            "href": f"{_HERE}/admin/runs/{run}",
            "label": f"{release}: {method}, AP@10 {precision:.3f}, found {100 * risk:.1f} %",
        }
        for release, run, method, risk, precision, active in points
    ]  # fmt: skip
    base = alt.Chart(alt.Data(values=values)).encode(
        x=alt.X("risk:Q", title="Risk: people found by who knows five of their terms",
                axis=alt.Axis(format="%", tickCount=6), scale=alt.Scale(zero=True, nice=True)),
        y=alt.Y("precision:Q", title="Precision: AP@10", axis=alt.Axis(tickCount=6),
                scale=alt.Scale(domain=_span([point[4] for point in points]), nice=False)),
    )  # fmt: skip
    methods = sorted({point[2] for point in points})
    colours, shapes = marks(len(methods))
    legend = alt.Legend(title=None, orient="right")
    ring = base.transform_filter("datum.active").mark_point(shape="circle", size=420, strokeWidth=2.5, color="#0f8a83")
    dots = base.mark_point(filled=True, size=120, opacity=0.95).encode(
        color=alt.Color("method:N", scale=alt.Scale(domain=methods, range=colours), legend=legend),
        shape=alt.Shape("method:N", scale=alt.Scale(domain=methods, range=shapes)),
        href="href:N", description="label:N",
    )  # fmt: skip
    return (ring + dots).properties(width=WIDTH, height=HEIGHT).configure(background="transparent", **_quiet())


def _span(values: list[float]) -> list[float]:
    """A little room around what is there, but none above 1."""
    room = 0.08 * (max(values) - min(values)) + 0.02
    return [max(0.0, min(values) - room), min(1.0, max(values) + room) if max(values) < 1 else 1.03]


def marks(number: int) -> tuple[list[str], list[str]]:
    """A colour and a shape for each of so many methods."""
    colours, shapes = ([values[i % len(values)] for i in range(number)] for values in (_COLOURS, _SHAPES))
    return colours, shapes


def _quiet() -> dict[str, object]:
    letters = {"labelFont": "system-ui, sans-serif", "titleFont": "system-ui, sans-serif", "labelFontSize": 12}
    return {
        "axis": {**letters, "titleFontSize": 12, "titleFontWeight": "normal", "gridColor": "#8883"},
        "legend": {**letters, "symbolSize": 110, "labelLimit": 0}, "view": {"stroke": None},
    }  # fmt: skip


def _readable(svg: str) -> str:
    """As wide as its place, with a name, and without what a strict page would refuse."""
    svg = re.sub(r'<svg ([^>]*?)width="\d+" height="\d+"', r"<svg \1", svg, count=1)
    # The letters of the browser may be wider than those it was measured with.
    svg = re.sub(r'viewBox="0 0 (\d+) ', lambda found: f'viewBox="0 0 {int(found[1]) + 30} ', svg, count=1)
    svg = re.sub(r' style="[^"]*"', "", svg).replace(f'xlink:href="{_HERE}', 'href="')
    return svg.replace("<svg ", '<svg role="group" aria-label="Precision against risk of all releases" ', 1)
