"""/admin/history and /admin/rollback: which releases served the searchers, and how does one go back?"""

from flask import flash, redirect, render_template, url_for
from flask.typing import ResponseReturnValue

from shoal.webapp.core.activation import history, previous, roll_back
from shoal.webapp.core.context import database, service
from shoal.webapp.core.login import account
from shoal.webapp.operator import panel


@panel.get("/history")
def activations() -> str:
    switches = history(database(), service().digest)
    return render_template("operator/history.html", switches=switches, back=previous(switches))


@panel.post("/rollback")
def rollback() -> ResponseReturnValue:
    flash(f"Rolled back: {roll_back(database(), service().digest, account().name)} serves all searchers again.")
    return redirect(url_for("operator.activations"))
