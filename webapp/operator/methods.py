"""/admin/methods: how is a method chosen and set? Cards and a form, both made from the method's own words."""

from collections.abc import Mapping

from flask import flash, redirect, render_template, request, url_for
from flask.typing import ResponseReturnValue

from shoal.anonymizer.registry import find_method, methods
from shoal.corpus.errors import InputError, NotFound
from shoal.webapp.core.context import database, service
from shoal.webapp.core.login import account
from shoal.webapp.core.logs import list_logs
from shoal.webapp.jobs.tasks import PREVIEW_USERS, add_run
from shoal.webapp.operator import panel, whole_number


@panel.get("/methods")
def all_methods() -> str:
    return render_template("operator/methods.html", methods=[method.info for method in methods().values()])


@panel.get("/methods/<id>")
def method_form(id: str) -> ResponseReturnValue:
    return _form(_known(id), request.args)


@panel.post("/methods/<id>")
def start_run(id: str) -> ResponseReturnValue:
    """A preview or a full run, whichever button was pressed."""
    _known(id)
    try:
        number = _add(id, request.form)
    except InputError as error:
        return _form(id, request.form, str(error)), 400
    flash("The preview has begun." if request.form.get("what") != "run" else "The run has begun.")
    return redirect(url_for("operator.run", number=number))


def _known(id: str) -> str:
    if id not in methods():
        raise NotFound("no such method: choose one from the list of methods")
    return id


def _add(id: str, given: Mapping[str, str]) -> int:
    params = {p.name: given[p.name] for p in find_method(id).info.parameters if given.get(p.name, "")}
    users = 0 if given.get("what") == "run" else PREVIEW_USERS
    log_id = whole_number(given.get("log", ""), "log")
    seed = whole_number(given.get("seed", "") or "0", "seed")
    return add_run(database(), id, params, log_id, seed=seed, users=users, account=account().name)


def _form(id: str, given: Mapping[str, str], wrong: str = "") -> str:
    logs = list_logs(database())
    served = next((log.id for log in logs if log.digest == service().digest), 0)
    return render_template(
        "operator/method.html", info=find_method(id).info, given=given, wrong=wrong, logs=logs, served=served,
        preview_users=PREVIEW_USERS,
    )  # fmt: skip
