"""What does a setting cost? Time and memory, on a page of their own, since they differ from run to run."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import altair as alt

from shoal.evaluation.figures.drawing import figure_blocks
from shoal.evaluation.figures.running import FigureResults
from shoal.evaluation.report.blocks import Block, Heading, Picture, Table, Text
from shoal.evaluation.report.html import to_html
from shoal.evaluation.report.plots import axis, curves, finished, write_pictures
from shoal.evaluation.report.styles import Styles
from shoal.evaluation.run.growth import exponents
from shoal.evaluation.run.results import Results, Row, write_whole


def write_cost(
    folder: Path, results: Results, growth: Sequence[Row] = (), figures: FigureResults | None = None
) -> list[str]:
    """cost.html, where anything was timed. `growth` are times of growing logs, `figures` of the papers' set-ups."""
    if not results.costs:
        return []
    blocks = [*cost_blocks(results), *_growth(growth), *figure_blocks(figures, timed=True)]
    write_whole(folder / "cost.html", to_html("What the settings cost", blocks, write_pictures(folder, blocks)))
    return ["cost.html"]


def cost_blocks(results: Results) -> list[Block]:
    users = results.data["users"]
    lines = tuple((r["method"], r["params"], r["seconds"], _speed(users, r), r["peak_mb"]) for r in results.costs)
    slowest = max(results.costs, key=lambda row: row["seconds"])
    return [
        Text(
            f"All {len(lines)} settings together took {sum(row['seconds'] for row in results.costs):.1f} seconds for "
            f"{users} users; the slowest was `{slowest['method']} {slowest['params']}` with {slowest['seconds']:.1f}. "
            "Measured with as many settings at once as there are processes, each method loaded and compiled before."
        ),
        Heading("Each setting", 2),
        Table(("method", "setting", "seconds", "users per second", "peak memory, MB"), lines, folded=len(lines) > 12,
              caption="Seconds, speed and memory of each setting"),
    ]  # fmt: skip


def _speed(users: int, row: Row) -> float | str:
    return users / row["seconds"] if row["seconds"] > 0 else ""


def _growth(rows: Sequence[Row]) -> list[Block]:
    found = exponents(rows)
    if not found:
        return []
    lines = tuple((method, exponent) for method, exponent in sorted(found.items(), key=lambda item: item[1]))
    return [
        Heading("Growth with the users", 2),
        Text(
            "Each method at its defaults, on an eighth, a quarter, half and all of the log; the exponent b of "
            "processor seconds = a · users^b is fitted to the four. A small log is dominated by what does not grow."
        ),
        Picture("cost-users", _picture(rows, found), "Processor seconds against users, both logarithmic."),
        Table(("method", "exponent"), lines),
    ]


def _picture(rows: Sequence[Row], found: dict[str, float]) -> dict[str, Any]:
    names = {row["method"]: f"{row['method']} ({found[row['method']]:.2f})" for row in rows if row["method"] in found}
    data = [
        {"x": row["users"], "y": row["seconds"], "curve": names[row["method"]], "step": row["users"],
         "tell": f"{row['method']}: {row['seconds']:.3g} s for {row['users']} users"}
        for row in rows if row["method"] in names
    ]  # fmt: skip
    places = sorted({point["x"] for point in data})
    x = alt.X("x:Q", title="users", scale=alt.Scale(type="log", nice=False, padding=12), axis=axis(values=places))
    y = alt.Y(
        "y:Q", title="processor seconds", scale=alt.Scale(type="log", nice=False, padding=12), axis=axis(format="~g")
    )
    drawn = curves(data, x, y, Styles(tuple(names.values())), "method (exponent)")
    return finished(drawn, "How does the time grow with the users?", "each method at its defaults, in one process")
