"""/admin/audit: who did what, when? The last acts as a page, all of them as CSV. For administrators."""

import csv
import io
import json

from flask import Response, render_template, request

from shoal.webapp.core.audit import list_events
from shoal.webapp.core.context import database
from shoal.webapp.core.formats import defused
from shoal.webapp.database import Event
from shoal.webapp.operator import panel

SHOWN = 200
EXPORTED = 100_000
COLUMNS = ("at", "action", "account", "subject", "details")


def asked_events(limit: int) -> list[Event]:
    """The acts that an address asks for."""
    action, subject = (request.args.get(name, "")[:200] for name in ("action", "subject"))
    return list_events(database(), action=action, subject=subject, limit=limit)


@panel.get("/audit")
def audit() -> str:
    wanted = {name: request.args.get(name, "")[:200] for name in ("action", "subject")}
    return render_template("operator/audit.html", events=asked_events(SHOWN), wanted=wanted, most=SHOWN)


@panel.get("/audit.csv")
def audit_csv() -> Response:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(COLUMNS)
    for event in asked_events(EXPORTED):
        cells = (event.at.isoformat(), event.action, event.account, event.subject, json.dumps(event.details))
        writer.writerow([defused(cell) for cell in cells])
    headers = {"Content-Disposition": "attachment; filename=shoal-audit.csv"}
    return Response(text.getvalue(), content_type="text/csv; charset=utf-8", headers=headers)
