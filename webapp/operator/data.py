"""/admin/data: which data does the server hold, and which does it serve? Corpora and logs, their upload and choice."""

from itertools import islice
from pathlib import Path

from flask import current_app, flash, redirect, render_template, request, url_for
from flask.typing import ResponseReturnValue
from sqlalchemy import select

from shoal.corpus.errors import InputError, NotFound
from shoal.corpus.store.datasets import CORPORA, DATA_SETS
from shoal.corpus.store.fetch import data_folder
from shoal.webapp.core.context import database, service, settings
from shoal.webapp.core.login import account, is_operator
from shoal.webapp.core.logs import REJECTED, get_log, list_logs, save_upload
from shoal.webapp.core.served_data import UNSERVED, add_choice, corpora, logs, uploaded_corpora
from shoal.webapp.core.uploads import delete_corpus, delete_log
from shoal.webapp.core.withdrawal import OUT_OF_REACH
from shoal.webapp.database import Job
from shoal.webapp.database.models import INDEXING, READING, SERVING
from shoal.webapp.jobs.queue import get_job
from shoal.webapp.jobs.tasks import add_reading
from shoal.webapp.operator import panel, served_log, shown_status

SHOWN_ROWS = 200
OF_DATA = (READING, INDEXING, SERVING)  # kinds of job
# What can be uploaded: the name of its field, the kind of its job, and the ending of its file.
UPLOADS = {"log": (READING, ".tsv", "a log in the AOL format"), "corpus": (INDEXING, ".jsonl", "a JSON-lines file")}


@panel.get("/data")
def data() -> str:
    known = corpora(database(), settings())
    documents = {name: DATA_SETS[name].documents for name in CORPORA}
    documents |= {job.task["path"]: job.result["documents"] for job in uploaded_corpora(database())}
    here = {one.source for one in known if one.source not in CORPORA or data_folder(one.source).is_dir()}
    return render_template(
        "operator/data.html", logs=list_logs(database()), served=service().digest, jobs=_jobs(), here=here,
        corpora=known, documents=documents | {settings().corpus_source: len(service().index)},
        limit=settings().max_upload, corpus=settings().corpus_source, choices=logs(database()),
        log=str(served_log()), problem=_problem(),
    )  # fmt: skip


def _problem() -> str:
    """What keeps the last choice from being served; a viewer is told that, and not why."""
    why = current_app.extensions["shoal.unserved"]
    return f"{UNSERVED}: {why if is_operator() else 'an operator is told why'}" if why else ""


def _jobs() -> list[Job]:
    """The latest uploads and choices, whether they went well or not."""
    with database().reading() as session:
        return list(session.scalars(select(Job).where(Job.kind.in_(OF_DATA)).order_by(Job.id.desc()).limit(20)))


@panel.post("/data")
def upload() -> ResponseReturnValue:
    number = take_upload()
    flash("The file has arrived and is being read.")
    return redirect(url_for("operator.data_job", number=number))


def take_upload() -> int:
    """Keep the file of a request and begin to read it; the number of the job."""
    for name, (kind, ending, _) in UPLOADS.items():
        given = request.files.get(name)
        if given is not None and given.filename:
            path = save_upload(settings().instance, given.filename, given.stream, ending)
            return add_reading(database(), path, Path(given.filename).name, account().name, kind)
    wanted = ", or ".join(what for _, _, what in UPLOADS.values())
    raise InputError(f"no file was sent: choose {wanted}, plain or .gz")


@panel.post("/data/served")
def serve_chosen() -> ResponseReturnValue:
    given = request.form
    number = add_choice(database(), settings(), given.get("corpus", ""), given.get("log", ""), account().name)
    flash("They are being made ready. Until then everything is served as before.")
    return redirect(url_for("operator.data_job", number=number))


@panel.get("/data/jobs/<int:number>")
def data_job(number: int) -> str:
    """An upload or a choice: how far it is, and what came of it."""
    job = get_data_job(number)
    return render_template("operator/data_job.html", job=job, status=shown_status(job), out_of_reach=OUT_OF_REACH)


def get_data_job(number: int) -> Job:
    job = get_job(database(), number)
    if job.kind not in OF_DATA:
        raise NotFound("no such upload: choose one from the page of the data")
    return job


@panel.post("/data/logs/<int:log_id>/delete")
def remove_log(log_id: int) -> ResponseReturnValue:
    log = get_log(database(), log_id)
    if request.form.get("typed", "") != log.name:
        raise InputError(f"nothing was deleted: type the name {log.name} to delete the log")
    gone = delete_log(database(), settings().instance, log_id, service().digest, account().name)
    what = "is deleted" if gone else "is forgotten, and its file is left to the host, whose it is"
    flash(f"The log {log.name} {what}. Releases made of it stay, with who has which pseudonym. {OUT_OF_REACH}")
    return redirect(url_for("operator.data"))


@panel.post("/data/corpora/<int:number>/delete")
def remove_corpus(number: int) -> ResponseReturnValue:
    delete_corpus(database(), settings().instance, number, settings().corpus_source, account().name)
    flash("The corpus is deleted.")
    return redirect(url_for("operator.data"))


@panel.get("/data/logs/<int:log_id>/rejected")
def rejected(log_id: int) -> str:
    log = get_log(database(), log_id)
    return render_template("operator/rejected.html", log=log, rows=rejected_rows(log.source), most=SHOWN_ROWS)


def rejected_rows(source: str) -> list[dict[str, object]]:
    """The first rows that could not be read, with their reasons."""
    path = Path(source).with_name(REJECTED)
    if not path.is_file():
        return []
    with path.open(encoding="utf-8", newline="\n") as file:
        lines = [line.removesuffix("\n").split("\t", 2) for line in islice(file, 1, SHOWN_ROWS + 1)]
    # A row that could not be read may hold any number of tabs itself.
    return [{"line_number": int(number), "reason": reason, "line": line} for number, reason, line in lines]
