"""/admin/compare: several runs side by side, with what differs and which is best."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from flask import flash, redirect, render_template, request, url_for
from flask.typing import ResponseReturnValue

from shoal.webapp.core.context import database
from shoal.webapp.database.models import DONE
from shoal.webapp.operator import panel, whole_number
from shoal.webapp.operator.runs import RunRow, get_row, shown_measures

MOST_COMPARED = 12
_BETTER = {"higher": 1, "lower": -1, "neither": 0}


@panel.get("/compare")
def compare() -> ResponseReturnValue:
    numbers = list(dict.fromkeys(whole_number(text, "run") for text in request.args.getlist("run")))
    if len(numbers) > MOST_COMPARED:
        return _choose_again(numbers, f"{len(numbers)} runs are too many for one table: choose up to {MOST_COMPARED}.")
    rows = [get_row(database(), number) for number in numbers]
    rows = [row for row in rows if row.job.state == DONE]
    if len(rows) < 2:
        return _choose_again(numbers, "Choose two finished runs or more, then compare them.")
    return render_template(
        "operator/compare.html", rows=rows, params=compared_params(rows), measured=compared_measures(rows)
    )


def _choose_again(numbers: Sequence[int], why: str) -> ResponseReturnValue:
    """Back to the list, with what was chosen still chosen."""
    flash(why)
    return redirect(url_for("operator.runs", run=numbers))


@dataclass(frozen=True)
class ComparedLine:
    """One parameter or measure of several runs; `best` marks the better ones."""

    key: str
    name: str
    help: str
    values: list[Any]
    differs: bool
    best: list[bool]


def compared_params(rows: Sequence[RunRow]) -> list[ComparedLine]:
    names = dict.fromkeys(name for row in rows for name in row.params)
    lines = []
    for name in names:
        values = [row.params.get(name) for row in rows]
        lines.append(ComparedLine(name, name, "", values, len(set(map(str, values))) > 1, [False] * len(rows)))
    return lines


def compared_measures(rows: Sequence[RunRow]) -> list[ComparedLine]:
    lines = []
    for key, column in shown_measures().items():
        values = [row.measured.get(key) for row in rows]
        known = [value for value in values if value is not None]
        if not known:
            continue
        differs, better = len(set(known)) > 1, _BETTER[column.measure.better]
        top = (max(known) if better > 0 else min(known)) if better and differs else None
        best = [value is not None and value == top for value in values]
        lines.append(ComparedLine(key, column.title, column.says, values, differs, best))
    return lines
