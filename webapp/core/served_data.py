"""Which corpus and log are served? Those of the command line, until an operator chooses others; all processes follow.

A choice is a job that ended well: it has brought the data, built the index and made the first release. It belongs to
the data that the server was started with, so that one started with other data serves what it was told.
"""

from dataclasses import dataclass, replace
from threading import Lock

from flask import Flask, current_app, g, request
from sqlalchemy import Select, select

from shoal.corpus.errors import InputError
from shoal.corpus.progress import Progress, silent
from shoal.corpus.store.datasets import CORPORA, DATA_SETS
from shoal.search.index import index_for
from shoal.webapp.core.instance import open_releases
from shoal.webapp.core.logs import list_logs, served_log
from shoal.webapp.core.service import start_service
from shoal.webapp.core.settings import Settings
from shoal.webapp.database import Database, Job
from shoal.webapp.database.models import DONE, INDEXING, SERVING
from shoal.webapp.jobs.queue import add_job, finish_job, get_job
from shoal.webapp.jobs.run import Steps

UNSERVED = "what was chosen in the panel cannot be served"
_STEPS = ("Preparing the documents", "Reading the log", "Making the first release")


@dataclass(frozen=True)
class Source:
    """A corpus or a log that can be served: what an operator reads, and a name or a path for the program."""

    value: str  # what a form sends
    title: str
    source: str


def corpora(database: Database, settings: Settings) -> list[Source]:
    """The data sets, those that were uploaded, and that of the command line."""
    sets = [Source(name, f"{name}: {DATA_SETS[name].title}", name) for name in CORPORA]
    uploaded = [
        Source(f"upload-{job.id}", f"{job.task['name']} (uploaded)", job.task["path"])
        for job in uploaded_corpora(database)
    ]
    known = [*sets, *uploaded]
    given = settings.started_with[0]
    return known if given in [one.source for one in known] else [*known, Source("given", given, given)]


def uploaded_corpora(database: Database) -> list[Job]:
    with database.reading() as session:
        return list(session.scalars(select(Job).where(Job.kind == INDEXING, Job.state == DONE).order_by(Job.id)))


def logs(database: Database) -> list[Source]:
    """Those that were read, and those that come with the data sets."""
    entered = [Source(str(log.id), _of_set(log.source) or log.name, log.source) for log in list_logs(database)]
    known = {one.source for one in entered}
    return [*entered, *(Source(name, _of_set(name), name) for name in CORPORA if name not in known)]


def _of_set(source: str) -> str:
    return f"the people of {source}" if source in CORPORA else ""


def add_choice(database: Database, settings: Settings, corpus: str, log: str, account: str = "") -> int:
    """Serve these from now on, as soon as they are ready; the number of the job."""
    found_corpus = _among(corpora(database, settings), corpus, "corpus")
    found_log = _among(logs(database), log, "log")
    task = {
        "name": f"{found_corpus.title}, {found_log.title}"[:200],
        "corpus": found_corpus.source,
        "log": found_log.source,
        "started_with": _told(settings),
    }
    return add_job(database, SERVING, task, len(_STEPS), account)


def _among(known: list[Source], value: str, what: str) -> Source:
    found = next((one for one in known if one.value == value), None)
    if found is None:
        raise InputError(f"{what}={value[:40]} is unknown: choose one of {', '.join(one.value for one in known)}")
    return found


def prepare(database: Database, settings: Settings, job: Job, steps: Steps) -> None:
    """Make ready what was chosen. When this ends well, every process serves it with its next answer."""
    chosen = _with(settings, job)
    steps.step(1, _STEPS[0])
    index = index_for(chosen.corpus_source, steps)
    steps.step(2, _STEPS[1])
    log = served_log(database, chosen.log_source, steps)
    steps.step(3, _STEPS[2])
    open_releases(chosen, database, log, index, steps)
    finish_job(database, job.id, DONE, result={"documents": len(index), "people": log.people})


def index_upload(database: Database, job: Job, steps: Steps) -> None:
    """Read an uploaded corpus and build its index, so that it can be chosen."""
    steps.step(1, _STEPS[0])
    index = index_for(job.task["path"], steps)
    finish_job(database, job.id, DONE, result={"documents": len(index)})


def as_served(database: Database, settings: Settings) -> Settings:
    """The settings with the corpus and the log of the last choice, if there is one."""
    number = _last_choice(database, settings)
    return _with(settings, get_job(database, number)) if number is not None else _with(settings, None)


def _with(settings: Settings, choice: Job | None) -> Settings:
    task = choice.task if choice is not None else {"corpus": "", "log": ""}
    return replace(settings, chosen_corpus=task["corpus"], chosen_log=task["log"])


def _last_choice(database: Database, settings: Settings) -> int | None:
    """The number of the job that was the last choice for the data that the server was started with."""
    told = _told(settings)
    return database.remembered(("choice", told), lambda: database.ask(_choice_of(told)))


def _choice_of(told: str) -> Select[int]:
    of_this_start = Job.task["started_with"].as_string() == told
    return select(Job.id).where(Job.kind == SERVING, Job.state == DONE, of_this_start).order_by(Job.id.desc()).limit(1)


def _told(settings: Settings) -> str:
    return "\n".join(settings.started_with)


def register(app: Flask) -> None:
    """Follow every later choice."""
    app.extensions["shoal.switching"] = Lock()
    app.before_request(follow)
    app.teardown_request(lambda error: app.extensions["shoal.database"].let_go())


def begin(app: Flask, settings: Settings, database: Database, progress: Progress = silent) -> None:
    """Open what is served. A choice that cannot be opened any more is left for what was."""
    app.extensions["shoal.choice"] = _last_choice(database, settings)
    try:
        _open(app, as_served(database, settings), database, progress)
    except InputError as error:
        if app.extensions["shoal.choice"] is None:
            raise
        _open(app, _with(settings, None), database, progress)
        _cannot(app, error)


def _open(app: Flask, settings: Settings, database: Database, progress: Progress = silent) -> None:
    log = served_log(database, settings.log_source, progress)
    service = start_service(settings, log, progress)
    releases = open_releases(settings, database, log, service.index, progress)
    app.extensions |= {
        "shoal.settings": settings, "shoal.service": service, "shoal.releases": releases, "shoal.unserved": ""
    }  # fmt: skip


def _cannot(app: Flask, error: InputError) -> None:
    app.extensions["shoal.unserved"] = str(error)
    app.logger.warning(UNSERVED)


def follow() -> None:
    """Before every answer: it is wholly of the data that was chosen last. Who comes first opens it, others wait."""
    if request.endpoint == "static":
        return
    app, held = current_app, current_app.extensions
    held["shoal.database"].hold()
    try:
        choice = _last_choice(held["shoal.database"], held["shoal.settings"])
    except InputError:
        choice = held["shoal.choice"]  # whoever needs the database says what is wrong with it
    with held["shoal.switching"]:
        if choice != held["shoal.choice"]:
            held["shoal.choice"] = choice
            try:
                _open(app, as_served(held["shoal.database"], held["shoal.settings"]), held["shoal.database"])
            except InputError as error:
                _cannot(app, error)
        g.service, g.releases, g.settings = (held[f"shoal.{name}"] for name in ("service", "releases", "settings"))
