"""/admin/: what serves the searchers, what is at work, and how do all releases compare, as a plot?"""

from collections.abc import Sequence
from typing import Any

from flask import render_template, url_for
from markupsafe import Markup

from shoal.webapp.core.activation import history, previous
from shoal.webapp.core.context import database, releases, service
from shoal.webapp.core.picture import Mark, inline_svg
from shoal.webapp.database.models import QUEUED, RUNNING
from shoal.webapp.jobs.evaluation import list_evaluations
from shoal.webapp.jobs.levels import levels_under_way
from shoal.webapp.jobs.progress import job_status
from shoal.webapp.jobs.run import setting_text
from shoal.webapp.operator import active_id, panel
from shoal.webapp.operator.releases import all_releases, left_behind
from shoal.webapp.operator.runs import RunRow, run_rows, shown_measures


@panel.get("/")
def overview() -> str:
    rows = run_rows(database())
    switches = history(database(), service().digest)
    listed, making = releases().listed(), levels_under_way(database(), service().digest)
    of_served, users = {one.release_id for one in listed}, max((row.users for row in rows), default=1)
    return render_template(
        "operator/overview.html",
        active=next((row for row in rows if row.release and row.release.id == active_id()), None),
        switches=switches[:5],
        back=previous(switches),
        leaves=left_behind(),
        damaged=[one for one in all_releases(database()) if one.damaged],
        busy=[(row, job_status(row.job)) for row in rows if row.job.state in (QUEUED, RUNNING)],
        levels=job_status(making) if making else None,
        evaluations=[(job, job_status(job)) for job in list_evaluations(database()) if job.state in (QUEUED, RUNNING)],
        picture=picture([row for row in rows if row.release and row.release.id in of_served], users),
        measures=shown_measures(),
        can_activate=[one.release_id for one in listed if one.verdict.holds],
    )


def picture(rows: Sequence[RunRow], users: int) -> Markup | None:
    """The releases as a report draws settings: a line per method, intervals, front and controls. Marks are links."""
    made = {_told(row): row for row in reversed(rows) if row.release and {"ap10", "linkage5"} <= set(row.measured)}
    in_order = sorted(made.values(), key=lambda row: (row.method, row.measured["linkage5"]))  # not as they were made
    from shoal.evaluation.report.report_files import picture_of  # loads altair, as below

    drawn = picture_of("precision-risk", [_row(row) for row in in_order], users)
    if drawn is None:
        return None
    return inline_svg(drawn, "Precision against risk of all releases", lambda told: _mark(made.get(told)))


def _row(row: RunRow) -> dict[str, Any]:
    return {"method": row.method, "params": setting_text(row.method, row.params, "=", " "), **row.measured}


def _told(row: RunRow) -> str:
    from shoal.evaluation.report.tradeoff import tell

    return tell(_row(row), "ap10", "linkage5")


def _mark(row: RunRow | None) -> Mark | None:
    if row is None or row.release is None:
        return None
    found, kept = (row.measured[name] for name in ("linkage5", "ap10"))
    label = f"{row.release.id}: {row.title}, AP@10 {kept:.3f}, found {100 * found:.1f} %"
    return Mark(url_for("operator.run", number=row.number), label, row.release.id == active_id())
