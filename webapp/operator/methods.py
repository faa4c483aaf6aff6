"""/admin/methods: how is a method chosen and set? Cards and a form, both made from the method's own words."""

from collections.abc import Mapping

from flask import flash, redirect, render_template, request, url_for
from flask.typing import ResponseReturnValue

from shoal.anonymizer.registry import find_method, make_method, methods
from shoal.corpus.errors import InputError, NotFound
from shoal.evaluation.experiment.settings import privacy_parameter
from shoal.webapp.core.context import database
from shoal.webapp.core.instance import FIRST_METHODS
from shoal.webapp.core.login import account
from shoal.webapp.core.logs import list_logs
from shoal.webapp.jobs.levels import latest_levels
from shoal.webapp.jobs.tasks import PREVIEW_USERS, add_run
from shoal.webapp.operator import panel, served_log, whole_number

MOST_AT_ONCE = 12  # runs that one form starts


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
        numbers = _add(id, request.form)
    except InputError as error:
        return _form(id, request.form, str(error)), 400
    what = "run" if request.form.get("what") == "run" else "preview"
    if len(numbers) > 1:
        flash(f"{len(numbers)} {what}s have begun. Choose some when they are done, to compare them.")
        return redirect(url_for("operator.runs", method=id, run=numbers))
    flash(f"The {what} has begun.")
    return redirect(url_for("operator.run", number=numbers[0]))


def _known(id: str) -> str:
    if id not in methods():
        raise NotFound("no such method: choose one from the list of methods")
    return id


def _add(id: str, given: Mapping[str, str]) -> list[int]:
    """A run for each value of the privacy parameter, of which several may be given: 3, 5, 10. All are checked first."""
    parameters = find_method(id).info.parameters
    params = {p.name: given[p.name] for p in parameters if given.get(p.name, "")}
    private = privacy_parameter(parameters)
    several = _values(params[private.name]) if private and private.name in params else []
    settings = [params | {private.name: value} for value in several] if private and several else [params]
    for one in settings:
        make_method(id, one)
    users = 0 if given.get("what") == "run" else PREVIEW_USERS
    log_id = whole_number(given.get("log", ""), "log")
    seed = whole_number(given.get("seed", "") or "0", "seed")
    return [add_run(database(), id, one, log_id, seed=seed, users=users, account=account().name) for one in settings]


def _values(text: str) -> list[str]:
    """What stands between commas, each once."""
    values = list(dict.fromkeys(piece.strip() for piece in text.split(",") if piece.strip()))
    if len(values) > MOST_AT_ONCE:
        raise InputError(f"{len(values)} values are too many at once: give up to {MOST_AT_ONCE}")
    return values


def _form(id: str, given: Mapping[str, str], wrong: str = "") -> str:
    logs = list_logs(database())
    info, start = find_method(id).info, dict(FIRST_METHODS).get(id, {})
    private = privacy_parameter(info.parameters)
    values = {p.name: given.get(p.name) or start.get(p.name, p.default) for p in info.parameters}
    made = latest_levels(database(), served_log())
    return render_template(
        "operator/method.html", info=info, given=given, values=values, wrong=wrong, logs=logs, served=served_log(),
        preview_users=PREVIEW_USERS, private=private.name if private else "",
        presets=made.result.get("levels", {}).get(id, {}) if made else {},
        leading=[p.name for p in info.parameters if p == private or values[p.name] != p.default],
    )  # fmt: skip
