"""/admin/releases, /admin/history: how is a release activated or rolled back, and which of its files may leave?"""

from pathlib import Path

from flask import flash, redirect, render_template, request, send_file, url_for
from flask.typing import ResponseReturnValue

from shoal.anonymizer.registry import methods
from shoal.anonymizer.release_files import MANIFEST, PROFILES, QUERIES, TAXONOMY
from shoal.corpus.errors import NotFound
from shoal.webapp.core.activation import (
    NeedsConfirmation,
    activate,
    concerns,
    get_release,
    history,
    previous,
    roll_back,
)
from shoal.webapp.core.context import database, service, settings
from shoal.webapp.core.login import account
from shoal.webapp.core.releases import release_folder
from shoal.webapp.operator import panel

LONGEST_NOTE = 300
# A list of what is allowed: a file that is added to releases later stays here until somebody thought of it.
PUBLIC = (PROFILES, QUERIES, MANIFEST, TAXONOMY)
ABOUT = ("certificate.json", "measures.json")


@panel.post("/releases/<release_id>/activate")
def activate_release(release_id: str) -> ResponseReturnValue:
    note, confirmed = request.form.get("note", "")[:LONGEST_NOTE], request.form.get("confirmed") == "yes"
    try:
        activate(database(), release_id, service().digest, account=account().name, note=note, confirmed=confirmed)
    except NeedsConfirmation:
        return redirect(url_for("operator.confirm", release_id=release_id), 303)
    flash(f"{release_id} now serves all searchers.")
    return redirect(url_for("operator.activations"))


@panel.get("/releases/<release_id>/confirm")
def confirm(release_id: str) -> str:
    """Why somebody should think twice, and the button that does it all the same."""
    release = get_release(database(), release_id)
    method = methods().get(release.method)
    why = concerns(release, method.info.does_not_protect if method else "")
    return render_template("operator/confirm.html", release=release, why=why)


def downloadable(instance: Path, release_id: str) -> list[str]:
    return [name for name in (*PUBLIC, *ABOUT) if _path(instance, release_id, name).is_file()]


def public_file(instance: Path, release_id: str, name: str) -> Path:
    """The path of a public file, or an error that lists those that there are."""
    known = get_release(database(), release_id)
    there = downloadable(instance, known.id)
    if name not in there:
        raise NotFound(f"no such file to download: there are {', '.join(there)}")
    return _path(instance, known.id, name)


def _path(instance: Path, release_id: str, name: str) -> Path:
    folder = release_folder(instance, release_id)
    return folder / name if name in PUBLIC else folder.parent / name


@panel.get("/releases/<release_id>/files/<name>")
def download(release_id: str, name: str) -> ResponseReturnValue:
    path = public_file(settings().instance, release_id, name)
    return send_file(path.resolve(), as_attachment=True, download_name=f"{release_id}-{name}")


@panel.get("/history")
def activations() -> str:
    switches = history(database(), service().digest)
    return render_template("operator/history.html", switches=switches, back=previous(switches))


@panel.post("/rollback")
def rollback() -> ResponseReturnValue:
    flash(f"Rolled back: {roll_back(database(), service().digest, account().name)} serves all searchers again.")
    return redirect(url_for("operator.activations"))
