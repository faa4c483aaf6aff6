"""How does an operator switch all searchers to another release, and back?"""

from flask import flash, redirect, render_template, request, url_for
from flask.typing import ResponseReturnValue

from shoal.anonymizer.registry import methods
from shoal.corpus.errors import InputError
from shoal.webapp.activation import NeedsConfirmation, activate, concerns, history, previous, roll_back
from shoal.webapp.admin.panel import operator, panel
from shoal.webapp.context import database, releases
from shoal.webapp.database import Release

LONGEST_NOTE = 300


@panel.post("/releases/<release_id>/activate")
def activate_release(release_id: str) -> ResponseReturnValue:
    note, confirmed = request.form.get("note", "")[:LONGEST_NOTE], request.form.get("confirmed") == "yes"
    try:
        activate(database(), release_id, releases().log_digest, account=operator(), note=note, confirmed=confirmed)
    except NeedsConfirmation:
        return redirect(url_for("admin.confirm", release_id=release_id), 303)
    flash(f"{release_id} now serves all searchers.")
    return redirect(url_for("admin.activations"))


@panel.get("/releases/<release_id>/confirm")
def confirm(release_id: str) -> str:
    """Why somebody should think twice, and the button that does it all the same."""
    with database().reading() as session:
        release = session.get(Release, release_id)
    if release is None:
        raise InputError("no such release: choose one from the list of runs")
    method = methods().get(release.method)
    why = concerns(release, method.info.does_not_protect if method else "")
    return render_template("admin/confirm.html", release=release, why=why)


@panel.get("/history")
def activations() -> str:
    switches = history(database(), releases().log_digest)
    return render_template("admin/history.html", switches=switches, back=previous(switches))


@panel.post("/rollback")
def rollback() -> ResponseReturnValue:
    flash(f"Rolled back: {roll_back(database(), releases().log_digest, operator())} serves all searchers again.")
    return redirect(url_for("admin.activations"))
