"""/admin/: what serves the searchers, what is at work, and how do all releases compare?"""

from flask import render_template

from shoal.webapp.core.activation import history, previous
from shoal.webapp.core.context import database, releases, service
from shoal.webapp.database.models import QUEUED, RUNNING
from shoal.webapp.jobs.progress import job_status
from shoal.webapp.operator.chart import precision_risk_svg
from shoal.webapp.operator.panel import active_id, panel
from shoal.webapp.operator.runs import run_rows, shown_measures


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
        picture=precision_risk_svg([row for row in rows if row.release and row.release.id in of_served], active_id()),
        measures=shown_measures(),
        can_activate=[one.release_id for one in listed if one.verdict.holds],
    )
