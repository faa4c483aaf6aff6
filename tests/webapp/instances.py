"""What do the tests of an instance stand on? A small log, an application with an account, a server."""

import os
import re
import subprocess
import sys
import threading
import time
import urllib.request
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient
from sqlalchemy import select
from werkzeug.test import TestResponse

from shoal.anonymizer.base import Anonymized, Method
from shoal.anonymizer.registry import make_method
from shoal.anonymizer.release_files import write_release
from shoal.cli import main
from shoal.corpus.documents import load_documents
from shoal.corpus.logs import load_log
from shoal.corpus.people.simulated import simulate_log, write_log
from shoal.corpus.querylog import QueryLog
from shoal.webapp import create_app
from shoal.webapp.core.accounts import create_account
from shoal.webapp.core.logs import get_log, register_log
from shoal.webapp.core.releases import ActiveReleases
from shoal.webapp.core.roles import ADMINISTRATOR
from shoal.webapp.core.seal import release_folder, seal_of
from shoal.webapp.core.settings import Settings
from shoal.webapp.database import Database, Job, Release
from shoal.webapp.database.models import DONE, RUN, now
from shoal.webapp.jobs import worker
from shoal.webapp.jobs.queue import cancel_job, get_job
from shoal.webapp.jobs.tasks import add_run
from shoal.webapp.jobs.worker import work
from tests.rooms import made_once
from tests.webapp.databases import KINDS, NewDatabaseURL, free_port

NAME, PASSWORD = "olga", "correct horse battery"


@pytest.fixture(scope="session")
def small_log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return made_once(
        tmp_path_factory,
        "small-log.tsv",
        lambda path: write_log(simulate_log(load_documents("news"), 70, seed=3), path),
    )


# The method and the setting of the first release that a server makes, beside the controls.
EVALUATED: dict[str, Any] = {
    "corpus": "news", "methods": "plain;everyone;original;linkability:p=0.2,members=5", "queries": 1, "victims": 20,
}  # fmt: skip


@pytest.fixture(scope="session")
def evaluated(small_log: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What `shoal evaluate` wrote of the small log."""
    out = tmp_path_factory.mktemp("evaluated")
    given = [text for name, value in EVALUATED.items() for text in (f"--{name}", str(value))]
    assert main(["evaluate", "--log", str(small_log), *given, "--jobs", "1", "--out", str(out)]) == 0
    return out


@dataclass(frozen=True)
class Desk:
    """A database that knows the small log, and the settings of a server over it."""

    database: Database
    settings: Settings
    log_id: int
    releases: ActiveReleases


@pytest.fixture(params=KINDS)
def desk(
    request: pytest.FixtureRequest, new_database_url: NewDatabaseURL, small_log: Path, tmp_path: Path
) -> Iterator[Desk]:
    url = new_database_url(request.param, tables=True)
    made = Database(url)
    log, _ = load_log(str(small_log))
    settings = Settings(log=str(small_log), instance=tmp_path / "instance", database_url=url, levels=False)
    number = register_log(made, log, small_log.name, str(small_log))
    yield Desk(made, settings, number, ActiveReleases(made, settings.instance, log.digest()))
    made.close()


@cache
def _of_random_groups(log_file: str, k: int) -> tuple[QueryLog, Method, Anonymized]:
    log, method = load_log(log_file)[0], make_method("random", {"k": k})
    return log, method, method.run(log)


def quick_release(desk: Desk, *, k: int = 5, risk: float = 0.01, **exposure: object) -> str:
    """A release as a run makes one, without measuring: its risk, and what it shows of few people, are as given."""
    log, method, made = _of_random_groups(desk.settings.log, k)
    shown = {"groups": 14, "alone": 0, "terms": [], "queries": [], **exposure}
    with desk.database.writing() as session:
        job = Job(kind=RUN, state=DONE, task={"method": "random", "params": {"k": k}, "log": desk.log_id, "seed": 0})
        session.add(job)
        session.flush()
        folder = release_folder(desk.settings.instance, f"r{job.id}")
        write_release(folder, made, method, log, 0)
        row = Release(
            id=f"r{job.id}", job_id=job.id, log_id=desk.log_id, method="random", params={"k": k}, title="Random groups",
            claim={"id": "groups", "values": {"k": k}}, measured={"linkage5": risk}, holds=True, checked_at=now(),
            certificate={"sentence": f"{k} share each profile."}, exposure=shown, seal=seal_of(folder),
        )  # fmt: skip
        session.add(row)
        return row.id


@dataclass(frozen=True)
class Panel:
    """An application, and somebody who is logged in at its panel."""

    app: Flask
    client: FlaskClient
    settings: Settings
    database: Database

    def post(self, path: str, **form: object) -> TestResponse:
        return self.client.post(path, data={"csrf_token": token_of(self.client, "/admin/password"), **form})

    def wait(self, number: int) -> str:
        """The state in which a job ends."""
        end, asked = time.monotonic() + 240, 0
        while (job := get_job(self.database, number)).finished_at is None:
            assert time.monotonic() < end, "the job does not end"
            if asked % 20 == 0:
                self.client.get("/admin/runs")  # a page of the panel also starts what waits
            asked += 1
            time.sleep(0.05)
        return job.state

    @property
    def releases(self) -> ActiveReleases:
        found: ActiveReleases = self.app.extensions["shoal.releases"]
        return found

    def run(self, method: str, what: str = "run", **form: object) -> int:
        """Start a run by its form and wait for its end."""
        answer = self.post(f"/admin/methods/{method}", what=what, log="1", **form)
        assert answer.status_code == 302, answer.text
        number = int(answer.location.rsplit("/", 1)[1])
        assert self.wait(number) == "done", get_job(self.database, number).error
        return number


def token_of(client: FlaskClient, path: str) -> str:
    found = re.search(r'name="csrf_token" value="([^"]+)"', client.get(path).text)
    assert found, path
    return found[1]


def log_in(client: FlaskClient, name: str = NAME, password: str = PASSWORD) -> TestResponse:
    form = {"name": name, "password": password, "csrf_token": token_of(client, "/admin/login")}
    return client.post("/admin/login", data=form)


@pytest.fixture(scope="session")
def in_threads() -> Iterator[set[Path]]:
    """The instances whose jobs run in threads of this process: its libraries are loaded already.

    Only the panels below are among them. All other jobs run as the server runs them, whatever was tested before.
    """
    instances: set[Path] = set()
    start_process = worker.start_process

    def carry_out(settings: Settings, job_id: int) -> None:
        with closing(Database(settings.database)) as database:
            work(database, settings, job_id)

    def start(settings: Settings, job_id: int) -> int:
        if settings.instance not in instances:
            return start_process(settings, job_id)
        Thread(target=carry_out, args=(settings, job_id), name=_jobs_of(settings), daemon=True).start()
        return os.getpid()

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(worker, "start_process", start)
        yield instances


@pytest.fixture(scope="session", params=KINDS)
def panel(
    request: pytest.FixtureRequest, new_database_url: NewDatabaseURL, small_log: Path,
    tmp_path_factory: pytest.TempPathFactory, in_threads: set[Path],
) -> Iterator[Panel]:  # fmt: skip
    """One for all tests of a kind of database: they may add to it, and must not rely on what it holds."""
    instance = tmp_path_factory.mktemp("instance")
    in_threads.add(instance)
    opened = open_panel(small_log, instance, new_database_url(request.param))
    yield opened
    end_jobs(opened)
    opened.database.close()


def end_jobs(panel: Panel) -> None:
    """Wait until no thread is at work on the database of a panel, which is taken away next."""
    with panel.database.reading() as session:
        unfinished = session.scalars(select(Job.id).where(Job.finished_at.is_(None))).all()
    for number in unfinished:
        cancel_job(panel.database, number)
    for thread in threading.enumerate():
        if thread.name == _jobs_of(panel.settings):
            thread.join(60)


def _jobs_of(settings: Settings) -> str:
    return f"jobs of {settings.instance}"


def open_panel(log: Path, instance: Path, url: str = "") -> Panel:
    settings = Settings(log=str(log), instance=instance, database_url=url, levels=False)
    app = create_app(settings)
    database: Database = app.extensions["shoal.database"]
    create_account(database, NAME, PASSWORD, ADMINISTRATOR)
    client = app.test_client()
    assert log_in(client).status_code == 302
    return Panel(app, client, settings, database)


@pytest.fixture(scope="session")
def quiet_panel(small_log: Path, tmp_path_factory: pytest.TempPathFactory, in_threads: set[Path]) -> Iterator[Panel]:
    """The same on SQLite, for tests that only look."""
    instance = tmp_path_factory.mktemp("quiet")
    in_threads.add(instance)
    opened = open_panel(small_log, instance)
    yield opened
    end_jobs(opened)
    opened.database.close()


@dataclass(frozen=True)
class LiveServer:
    """A server as people start it, with two processes, and the database that they share."""

    url: str
    said: Path
    settings: Settings
    database: Database
    releases: ActiveReleases


# Names of ours, of libraries, of the standard library, and what gunicorn would run by itself.
_PLANTED = ("search.py", "corpus/__init__.py", "evaluation.py", "gunicorn.conf.py", "numpy.py", "flask.py", "json.py",
            "shoal.py", "webapp/__init__.py", "sitecustomize.py")  # fmt: skip


@pytest.fixture(scope="session")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder full of files with the names of modules; each that is run leaves a trace."""
    folder = tmp_path_factory.mktemp("hostile")
    for name in _PLANTED:
        (folder / name).parent.mkdir(exist_ok=True)
        trace = folder.parent / f"{folder.name}-run-{name.replace('/', '-')}"
        (folder / name).write_text(f"open({str(trace)!r}, 'w').close()\nraise SystemExit('{name} was run')\n")
    return folder


def traces(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.parent.glob(f"{folder.name}-run-*"))


@pytest.fixture(scope="session")
def live(small_log: Path, hostile: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[LiveServer]:
    """A server with two processes and an account, started from the hostile folder, until the tests are over."""
    settings = Settings(log=str(small_log), instance=tmp_path_factory.mktemp("live"), port=free_port(), levels=False)
    said = settings.instance / "said.txt"
    program = str(Path(sys.executable).with_name("shoal"))
    command = [program, "serve", "--log", str(small_log), "--instance", str(settings.instance)]
    command += ["--port", str(settings.port), "--workers", "2", "--threads", "8", "--no-levels"]
    with said.open("w") as output, subprocess.Popen(command, stdout=output, stderr=output, cwd=hostile) as process:
        try:
            url = f"http://127.0.0.1:{settings.port}"
            wait_for_answer(f"{url}/healthz", process, said)
            database = Database(settings.database)
            create_account(database, NAME, PASSWORD, ADMINISTRATOR)
            digest = get_log(database, 1).digest
            yield LiveServer(url, said, settings, database, ActiveReleases(database, settings.instance, digest))
            database.close()
        finally:
            process.terminate()
            process.wait(20)


def wait_for_answer(url: str, process: "subprocess.Popen[bytes]", said: Path) -> None:
    end = time.monotonic() + 240
    while time.monotonic() < end and process.poll() is None:
        try:
            with urllib.request.urlopen(url, timeout=5):
                return
        except OSError:
            time.sleep(0.2)
    raise AssertionError(f"the server did not start: {said.read_text()[-2000:]}")


@pytest.fixture(scope="session")
def two_releases(live: LiveServer) -> list[str]:
    """Two releases of the served log that differ in k."""
    made = []
    for k in (3, 15):
        number = add_run(live.database, "random", {"k": k}, 1)
        assert work(live.database, live.settings, number)
        made.append(f"r{number}")
    return made
