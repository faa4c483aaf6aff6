"""/admin/evaluations: which method is best on this log? Start an evaluation, watch it grow, show it to everybody."""

from flask import flash, redirect, render_template, request, url_for
from flask.typing import ResponseReturnValue

from shoal.anonymizer.registry import methods
from shoal.corpus.errors import InputError
from shoal.webapp.core.context import database, settings
from shoal.webapp.core.login import account
from shoal.webapp.core.logs import list_logs
from shoal.webapp.core.withdrawal import OUT_OF_REACH, delete_evaluation
from shoal.webapp.jobs.evaluation import (
    LEVELS,
    THOROUGH,
    add_evaluation,
    get_evaluation,
    is_over,
    list_evaluations,
    publish,
    published_evaluation,
    results_so_far,
)
from shoal.webapp.operator import panel, served_log, shown_status, whole_number
from shoal.webapp.searcher.answer import shown


@panel.get("/evaluations")
def evaluations() -> str:
    return _form()


def _form(wrong: str = "") -> str:
    at_answer = _at_answer()
    return render_template(
        "operator/evaluations.html", jobs=list_evaluations(database()), logs=list_logs(database()), served=served_log(),
        methods=[method.info for method in methods().values()], levels=LEVELS, thorough=list(THOROUGH), wrong=wrong,
        given=request.form, at_answer=at_answer,
    )  # fmt: skip


def _at_answer() -> int:
    """The number of the evaluation that everybody sees; 0 where there is none."""
    found = published_evaluation(database(), served_log(), settings().corpus_source)
    return found.id if found else 0


@panel.post("/evaluations")
def start_evaluation() -> ResponseReturnValue:
    try:
        number = _add()
    except InputError as error:
        return _form(str(error)), 400
    flash("The evaluation has begun. Its picture grows with every method.")
    return redirect(url_for("operator.evaluation", number=number))


def _add() -> int:
    given = request.form
    if not given.getlist("method"):
        raise InputError("no method was chosen: choose one or more")
    log_id = whole_number(given.get("log", ""), "log")
    levels, thorough = whole_number(given.get("levels", "5"), "levels"), given.get("thorough", "usual")
    return add_evaluation(
        database(), settings().corpus_source, log_id, given.getlist("method"), levels=levels, thorough=thorough,
        account=account().name,
    )  # fmt: skip


@panel.get("/evaluations/<int:number>")
def evaluation(number: int) -> str:
    job = get_evaluation(database(), number)
    results = results_so_far(settings().instance, number)
    is_served = is_over(job, served_log(), settings().corpus_source)
    return render_template(
        "operator/evaluation.html", job=job, status=shown_status(job), is_served=is_served, at_answer=_at_answer(),
        out_of_reach=OUT_OF_REACH,
        **(shown(results) if results else {"results": None}),
    )  # fmt: skip


@panel.post("/evaluations/<int:number>/publish")
def publish_evaluation(number: int) -> ResponseReturnValue:
    publish(database(), number, account().name)
    flash("It is at /answer now, for everybody.")
    return redirect(url_for("operator.evaluation", number=number))


@panel.post("/evaluations/<int:number>/delete")
def remove_evaluation(number: int) -> ResponseReturnValue:
    delete_evaluation(database(), settings().instance, number, account().name)
    flash(f"Evaluation {number} is deleted, and all that it measured. {OUT_OF_REACH}")
    return redirect(url_for("operator.evaluations"))
