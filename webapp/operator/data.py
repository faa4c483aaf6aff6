"""/admin/data: which data does the server hold? Corpora and logs with their statistics, and the upload of a log."""

from itertools import islice
from pathlib import Path

from flask import flash, redirect, render_template, request, url_for
from flask.typing import ResponseReturnValue
from sqlalchemy import select

from shoal.corpus.errors import InputError, NotFound
from shoal.corpus.store.datasets import CORPORA, DATA_SETS
from shoal.corpus.store.fetch import data_folder
from shoal.webapp.core.context import database, service, settings
from shoal.webapp.core.login import account
from shoal.webapp.core.logs import REJECTED, get_log, list_logs, save_upload
from shoal.webapp.database import Job
from shoal.webapp.database.models import READING
from shoal.webapp.jobs.progress import job_status
from shoal.webapp.jobs.queue import get_job
from shoal.webapp.jobs.tasks import add_reading
from shoal.webapp.operator import panel

SHOWN_ROWS = 200


@panel.get("/data")
def data() -> str:
    sets = [DATA_SETS[name] for name in CORPORA]
    return render_template(
        "operator/data.html", logs=list_logs(database()), served=service().digest, uploads=_uploads(),
        corpora=[(one, data_folder(one.name).is_dir()) for one in sets], limit=settings().max_upload,
        corpus=settings().corpus_source,
    )  # fmt: skip


def _uploads() -> list[Job]:
    """The latest ones, whether they went well or not."""
    with database().reading() as session:
        return list(session.scalars(select(Job).where(Job.kind == READING).order_by(Job.id.desc()).limit(20)))


@panel.post("/data")
def upload() -> ResponseReturnValue:
    number = take_upload()
    flash("The log has arrived and is being read.")
    return redirect(url_for("operator.upload_page", number=number))


def take_upload() -> int:
    """Keep the file of a request and begin to read it; the number of the job."""
    given = request.files.get("log")
    if given is None or not given.filename:
        raise InputError("no file was sent: choose a log in the AOL format, plain or .gz")
    path = save_upload(settings().instance, given.filename, given.stream)
    return add_reading(database(), path, Path(given.filename).name, account().name)


@panel.get("/data/uploads/<int:number>")
def upload_page(number: int) -> str:
    job = get_job(database(), number)
    if job.kind != READING:
        raise NotFound("no such upload: choose one from the page of the data")
    return render_template("operator/upload.html", job=job, status=job_status(job))


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
