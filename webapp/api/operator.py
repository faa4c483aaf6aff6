"""What can an operator's programs do? All that the panel does, as JSON under /api/v1/admin."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from apiflask import APIBlueprint
from flask import abort, send_file
from flask.typing import ResponseReturnValue
from flask_wtf.csrf import generate_csrf

from shoal.corpus.errors import Conflict
from shoal.evaluation.run.results import told
from shoal.webapp.api import operator_schemas as s
from shoal.webapp.core.activation import activate, history, roll_back
from shoal.webapp.core.context import database, releases, service, settings
from shoal.webapp.core.gate import Consent, NeedsConfirmation, Policy, read_policy, set_policy
from shoal.webapp.core.login import (
    account,
    enter,
    guard,
    is_operator,
    leave,
    note_download,
    set_own_password,
    tend_after_change,
    try_to_log_in,
)
from shoal.webapp.core.logs import get_log, list_logs
from shoal.webapp.core.releases import without_names
from shoal.webapp.core.served_data import add_choice, corpora
from shoal.webapp.core.served_data import logs as choosable_logs
from shoal.webapp.core.withdrawal import delete_evaluation, delete_release, delete_run, withdraw
from shoal.webapp.database import Release
from shoal.webapp.jobs.evaluation import add_evaluation, get_evaluation, publish, results_so_far
from shoal.webapp.jobs.queue import cancel_job, get_job, start_again
from shoal.webapp.jobs.tasks import PREVIEW_USERS, add_run
from shoal.webapp.operator import served_log, shown_status
from shoal.webapp.operator.data import get_data_job, rejected_rows, take_upload
from shoal.webapp.operator.releases import all_releases, downloadable, public_file, view_of
from shoal.webapp.operator.runs import RunRow, get_row, read_wanted, run_rows

api = APIBlueprint("api_operator", __name__, url_prefix="/api/v1/admin", tag="operator")

api.before_request(guard)
api.after_request(tend_after_change)
api.after_request(note_download)


@api.post("/session")
@api.input(s.LogInIn, arg_name="given")
@api.output(s.SessionOut)
@api.doc(summary="Log in. Every later change needs the token in the header X-CSRFToken", responses=[403, 429])
def log_in(given: dict[str, str]) -> dict[str, Any]:
    found = try_to_log_in(given["name"], given["password"])
    if found is None:
        abort(403)
    enter(found)
    return _session()


@api.get("/session")
@api.output(s.SessionOut)
@api.doc(summary="Who is logged in, and the token that changes need")
def session() -> dict[str, Any]:
    return _session()


def _session() -> dict[str, Any]:
    own = {name: getattr(account(), name) for name in ("name", "role", "must_change")}
    return {**own, "csrf_token": generate_csrf()}


@api.delete("/session")
@api.output({}, status_code=204)
@api.doc(summary="Log out")
def log_out() -> str:
    leave()
    return ""


@api.put("/password")
@api.input(s.PasswordIn, arg_name="given")
@api.output({}, status_code=204)
@api.doc(summary="Change the password; every log-in of the account ends")
def set_password(given: dict[str, str]) -> str:
    set_own_password(given["old"], given["new"])
    return ""


@api.get("/runs")
@api.input(s.WantedIn, location="query", arg_name="wanted")
@api.output(s.RunsOut)
@api.doc(summary="Runs and previews, sorted and filtered")
def runs(wanted: dict[str, str]) -> dict[str, Any]:
    return {"runs": [_run(row) for row in run_rows(database(), read_wanted(wanted))]}


@api.post("/runs")
@api.input(s.RunIn, arg_name="given")
@api.output(s.RunOut, status_code=201)
@api.doc(summary="Start a run of a method, or a preview of it on some users")
def start_run(given: dict[str, Any]) -> dict[str, Any]:
    number = add_run(
        database(), given["method"], given["params"], given["log"] or served_log(), seed=given["seed"],
        users=PREVIEW_USERS if given["preview"] else 0, account=account().name,
    )  # fmt: skip
    return _run(get_row(database(), number))


@api.get("/runs/<int:number>")
@api.output(s.RunOut)
@api.doc(summary="A run: how far it is, or what came out")
def run(number: int) -> dict[str, Any]:
    return _run(get_row(database(), number))


def _run(row: RunRow) -> dict[str, Any]:
    release = row.release
    return {
        **shown_status(row.job), "method": row.method, "params": row.params, "title": row.title,
        "log": row.job.task["log"], "seed": row.job.task["seed"], "account": row.job.account,
        "created_at": row.job.created_at, "finished_at": row.job.finished_at, "result": _shown(row.job.result),
        "release_id": release.id if release else None, "certificate": _shown(release.certificate) if release else None,
        "files": downloadable(settings().instance, release) if release else [],
    }  # fmt: skip


def _shown(told: dict[str, Any]) -> dict[str, Any]:
    """A counterexample names people, which a viewer is not shown."""
    if is_operator() or not told.get("counterexample"):
        return told
    return {**told, "counterexample": without_names(told["counterexample"])}


@api.post("/runs/<int:number>/cancel")
@api.output(s.JobOut)
@api.doc(summary="Stop a run that waits or runs")
def cancel(number: int) -> dict[str, Any]:
    cancel_job(database(), number)
    return _job(number)


@api.post("/runs/<int:number>/again")
@api.output(s.JobOut)
@api.doc(summary="Start a run again that failed or was stopped", responses={409: "it runs, waits, or ended well"})
def again(number: int) -> dict[str, Any]:
    start_again(database(), number)
    return _job(number)


def _job(number: int) -> dict[str, Any]:
    return shown_status(get_job(database(), number))


@api.post("/evaluations")
@api.input(s.EvaluationIn, arg_name="given")
@api.output(s.EvaluationOut, status_code=201)
@api.doc(summary="Start an evaluation of some methods, beside the controls")
def start_evaluation(given: dict[str, Any]) -> dict[str, Any]:
    number = add_evaluation(
        database(), settings().corpus_source, given["log"] or served_log(), given["methods"],
        levels=given["levels"], thorough=given["thorough"], account=account().name,
    )  # fmt: skip
    return _evaluation(number)


@api.get("/evaluations/<int:number>")
@api.output(s.EvaluationOut)
@api.doc(summary="An evaluation: how far it is, and what is known until now")
def evaluation(number: int) -> dict[str, Any]:
    return _evaluation(number)


def _evaluation(number: int) -> dict[str, Any]:
    job = get_evaluation(database(), number)
    results = results_so_far(settings().instance, number)
    at = job.result.get("published_at", "")
    return {**shown_status(job), "published_at": at, "results": told(results) if results else {}}


@api.post("/evaluations/<int:number>/publish")
@api.output(s.EvaluationOut)
@api.doc(summary="Show an evaluation to everybody at /answer", responses={409: "it is not done"})
def publish_evaluation(number: int) -> dict[str, Any]:
    publish(database(), number, account().name)
    return _evaluation(number)


@api.delete("/evaluations/<int:number>")
@api.output({}, status_code=204)
@api.doc(
    summary="Delete an evaluation with all that it measured; copies that others fetched are out of reach",
    responses={409: "it waits or runs"},
)
def remove_evaluation(number: int) -> str:
    delete_evaluation(database(), settings().instance, number, account().name)
    return ""


@api.delete("/runs/<int:number>")
@api.output({}, status_code=204)
@api.doc(
    summary="Delete a run or a preview with all that it made; copies that others fetched are out of reach",
    responses={409: "it waits, runs, or serves all searchers"},
)
def remove_run(number: int) -> str:
    delete_run(releases(), number, account().name)
    return ""


@api.get("/releases")
@api.output(s.AllReleasesOut)
@api.doc(summary="All releases that there ever were, and the state of each")
def all_states() -> dict[str, Any]:
    return {"releases": [_state(release) for release in all_releases(database())]}


def _state(release: Release) -> dict[str, Any]:
    return {**vars(release), "release_id": release.id}


@api.get("/releases/<release_id>")
@api.output(s.ReleaseStateOut)
@api.doc(summary="A release: its state, the numbers that the gate goes by, and what may be done with it")
def release_state(release_id: str) -> dict[str, Any]:
    return _view(release_id)


def _view(release_id: str) -> dict[str, Any]:
    view = view_of(release_id)
    found = {**vars(view.findings), "reasons": view.findings.reasons}
    waiting = view.proposal.account if view.proposal is not None else ""
    return {**_state(view.release), "findings": found, "acts": view.acts, "proposed_by": waiting}


@api.post("/releases/<release_id>/withdraw")
@api.input(s.NoteIn, arg_name="given")
@api.output(s.ReleaseStateOut)
@api.doc(
    summary="Take a release away from everybody, for good; copies that others fetched are out of reach",
    responses={409: "it was never public"},
)
def withdraw_release(release_id: str, given: dict[str, str]) -> dict[str, Any]:
    withdraw(releases(), release_id, account().name, given["note"])
    return _view(release_id)


@api.delete("/releases/<release_id>")
@api.output({}, status_code=204)
@api.doc(summary="Delete a release with its files and run; its id is not used again", responses={409: "it is active"})
def remove_release(release_id: str) -> str:
    delete_release(releases(), release_id, account().name)
    return ""


@api.get("/policy")
@api.output(s.PolicyOut)
@api.doc(summary="What is published without a question")
def policy() -> Policy:
    return read_policy(database())


@api.put("/policy")
@api.input(s.PolicyIn, arg_name="given")
@api.output(s.PolicyOut)
@api.doc(summary="Set what is published without a question")
def change_policy(given: dict[str, Any]) -> Policy:
    set_policy(database(), Policy(**given), account().name)
    return read_policy(database())


@api.get("/releases/<release_id>/files/<name>")
@api.doc(summary="A public file of a release", responses={200: "the file", 404: "no such file", 410: "withdrawn"})
def download(release_id: str, name: str) -> ResponseReturnValue:
    return send_file(public_file(settings().instance, release_id, name).resolve(), as_attachment=True)


@api.get("/activations")
@api.output(s.HistoryOut)
@api.doc(summary="Which releases served the searchers, the last one first")
def activations() -> dict[str, Any]:
    return _history()


def _history() -> dict[str, Any]:
    return {"active": releases().current_id(), "activations": history(database(), releases().log_digest)}


@api.post("/activations")
@api.input(s.ActivateIn, arg_name="given")
@api.output(s.HistoryOut)
@api.doc(
    summary="Switch all searchers to a release",
    responses={
        202: "it waits for a second operator", 403: "it breaks its promise", 410: "it was withdrawn",
        409: "it needs a confirmation, or is of another log",
    },
)  # fmt: skip
def activate_release(given: dict[str, Any]) -> ResponseReturnValue:
    with _asking():
        done = activate(releases(), given["release_id"], _consent(given))
    return _history(), 200 if done else 202


def _consent(given: dict[str, Any]) -> Consent:
    return Consent(account().name, given["note"], given["confirmed"], given["typed"])


@contextmanager
def _asking() -> Iterator[None]:
    try:
        yield
    except NeedsConfirmation as error:
        how = "note (a reason) and typed (the id)" if releases().of_real_people else "confirmed=true"
        raise Conflict(f"{error} Send {how} to do it all the same.") from error


@api.post("/rollback")
@api.input(s.ConsentIn, arg_name="given")
@api.output(s.HistoryOut)
@api.doc(
    summary="Activate the release that was active before; what it leaves is withdrawn if it is above the ceiling",
    responses={202: "it waits for a second operator", 409: "there is none, or it needs a confirmation"},
)
def rollback(given: dict[str, Any]) -> ResponseReturnValue:
    with _asking():
        done = roll_back(releases(), _consent(given))
    return _history(), 200 if done else 202


@api.get("/logs")
@api.output(s.LogsOut)
@api.doc(summary="The logs that releases can be made of")
def logs() -> dict[str, Any]:
    served = service().digest
    return {
        "logs": [
            {**vars(log), "simulated": log.simulated, "served": log.digest == served} for log in list_logs(database())
        ]
    }


@api.post("/logs")
@api.input(s.UploadIn, location="files", arg_name="given")
@api.output(s.JobOut, status_code=201)
@api.doc(summary="Upload a log in the AOL format, plain or .gz; its reading is a job")
def upload(given: dict[str, Any]) -> dict[str, Any]:
    return _job(take_upload())


@api.get("/corpora")
@api.output(s.SourcesOut)
@api.doc(summary="The corpora and logs that can be served, and those that are")
def served() -> dict[str, Any]:
    here = settings()
    return {
        "corpora": [{**vars(one), "served": one.source == here.corpus_source} for one in corpora(database(), here)],
        "logs": [{**vars(one), "served": one.value == str(served_log())} for one in choosable_logs(database())],
    }


@api.post("/corpora")
@api.input(s.CorpusIn, location="files", arg_name="given")
@api.output(s.JobOut, status_code=201)
@api.doc(summary="Upload a corpus as JSON lines, plain or .gz; its indexing is a job")
def upload_corpus(given: dict[str, Any]) -> dict[str, Any]:
    return _job(take_upload())


@api.put("/served")
@api.input(s.ServedIn, arg_name="given")
@api.output(s.JobOut, status_code=202)
@api.doc(summary="Serve a corpus and a log to everybody, once a job has made them ready")
def serve_chosen(given: dict[str, str]) -> dict[str, Any]:
    return _job(add_choice(database(), settings(), given["corpus"], given["log"], account().name))


@api.get("/uploads/<int:number>")
@api.output(s.UploadOut)
@api.doc(summary="How far the reading of an upload, or the choice of what is served, is")
def read_upload(number: int) -> dict[str, Any]:
    job = get_data_job(number)
    return {**shown_status(job), "result": job.result}


@api.get("/logs/<int:log_id>/rejected")
@api.output(s.RejectedOut)
@api.doc(summary="The first rows of a log that could not be read, with their reasons")
def rejected(log_id: int) -> dict[str, Any]:
    log = get_log(database(), log_id)
    return {"rejected": log.rejected, "rows": rejected_rows(log.source)}
