"""What do the tests of secrets stand on? A log whose every person has an id, words and addresses found nowhere else.

It is served as a log of real people, with a release of every method.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient

from shoal.anonymizer.registry import methods
from shoal.corpus.documents import load_documents
from shoal.corpus.knowledge.wordnet import load_wordnet
from shoal.corpus.logs.aol import read_log
from shoal.corpus.people.simulated import simulate_log, write_log
from shoal.search.index import index_for
from shoal.webapp import create_app
from shoal.webapp.core.accounts import create_account
from shoal.webapp.core.activation import activate
from shoal.webapp.core.gate import Consent
from shoal.webapp.core.roles import ROLES
from shoal.webapp.core.settings import Settings
from shoal.webapp.database import Database, Job, Release
from shoal.webapp.database.models import EVALUATION, FAILED, READING, RUN, now
from shoal.webapp.jobs import run
from shoal.webapp.jobs.queue import claim_job
from shoal.webapp.jobs.tasks import add_run
from shoal.webapp.jobs.tokens import issue_token
from tests.webapp.instances import PASSWORD, log_in

USERS = 40
LETTERS = "bcdfghjklmnpqrstvwxz"


@dataclass(frozen=True)
class Canary:
    """What tells one person of the log from all others."""

    user: str
    site: str
    invented: str  # a word that no dictionary knows
    rare: str  # one that a dictionary knows, and no document and nobody else has


@dataclass
class Birdcage:
    """A server over the log of canaries, and its releases by method."""

    app: Flask
    database: Database
    settings: Settings
    birds: list[Canary]
    releases: dict[str, str] = field(default_factory=dict)
    active: str = ""
    broken: str = ""  # a release that breaks its promise, with a counterexample that names a person
    failed: tuple[str, ...] = ()  # jobs whose error quotes the log, numbered as releases are

    def activate(self, method: str) -> str:
        release_id = self.releases[method]
        consent = Consent("test", "to see what leaks", confirmed=True, typed=release_id)
        assert activate(self.app.extensions["shoal.releases"], release_id, consent)
        self.active = release_id
        return release_id

    def token_for(self, bird: Canary, days: int = 9) -> str:
        digest = self.app.extensions["shoal.service"].digest
        return issue_token(self.database, self.settings, digest, bird.user, days=days, by="test")[1]

    def staff(self, role: str) -> FlaskClient:
        client = self.app.test_client()
        assert log_in(client, f"canary-{role}", PASSWORD).status_code == 302
        return client


class _Silent:
    def __call__(self, done: int, total: int, stage: str) -> None: ...

    def step(self, number: int, title: str) -> None: ...


def canaries(held: set[str]) -> list[Canary]:
    """One for each person; `held` are words that documents or other queries have."""
    words = (word for word in load_wordnet().words if word.isalpha() and len(word) > 6 and word not in held)
    rare = list(islice(islice(words, 4000, None, 97), USERS))
    return [
        Canary(f"canary-user-{4471180 + i}", f"canary-address-{i}.example",
               f"qz{LETTERS[i % 20]}{LETTERS[i // 20]}wplumox", rare[i])
        for i in range(USERS)
    ]  # fmt: skip


def write_canaries(path: Path, birds: list[Canary]) -> None:
    """A simulated log in which everybody is a canary, without the heading that says that nobody is real."""
    write_log(simulate_log(load_documents("news"), USERS, seed=5), path)
    lines = [line.split("\t") for line in path.read_text().splitlines() if not line.startswith("#")]
    rows = [cells for cells in lines if len(cells) == 5 and cells[0] != "AnonID"]
    place = {name: i for i, name in enumerate(dict.fromkeys(cells[0] for cells in rows))}
    told = []
    for user, query, time, rank, click in rows:
        bird = birds[place[user]]
        told.append("\t".join((bird.user, query, time, rank, f"http://{bird.site}/" if click else "")))
    for bird in birds:
        for hour in range(3):
            told.append(f"{bird.user}\t{bird.invented} {bird.rare} climate\t2006-03-05 {hour:02d}:00:00\t\t")
    path.write_text("\n".join(told) + "\n")


@pytest.fixture(scope="session")
def birdcage(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Birdcage]:
    folder = tmp_path_factory.mktemp("birdcage")
    path = folder / "log.tsv"
    index = index_for("news")
    held = {*index.engine.lexicon.words, *index.vectors.vocabulary}
    index.close()
    birds = canaries(held)
    write_canaries(path, birds)
    settings = Settings(log=str(path), instance=folder / "instance", levels=False)
    app = create_app(settings)
    cage = Birdcage(app, app.extensions["shoal.database"], settings, birds)
    for role in ROLES:
        create_account(cage.database, f"canary-{role}", PASSWORD, role)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(run, "_measure", lambda *_: {})  # what is kept and found is of no interest here
        _make_releases(cage, path)
    yield cage
    cage.database.close()


def _make_releases(cage: Birdcage, path: Path) -> None:
    log, _ = read_log(path)
    index = cage.app.extensions["shoal.service"].index
    for method in methods():
        job = claim_job(cage.database, add_run(cage.database, method, {}, 1), even_if_busy=True)
        assert job is not None
        cage.releases[method] = run.make_release(cage.database, cage.settings.instance, job, log, index, _Silent())
    _break(cage, "random")
    _fail(cage)


def _fail(cage: Birdcage) -> None:
    """A run, an upload and an evaluation that ended with words of the log in their error."""
    bird, run_of_it = cage.birds[8], {"method": "random", "params": {"k": 4}, "log": 1, "seed": 0}
    given = {"corpus": "news", "log": cage.settings.log}
    tasks: dict[str, dict[str, Any]] = {
        RUN: run_of_it,
        READING: {"path": "/nowhere/log.tsv", "name": "log.tsv"},
        EVALUATION: {"log": 1, "given": given, "levels": 3, "thorough": "quick", "methods": ["random"]},
    }
    with cage.database.writing() as opened:
        told = f"row 7 of user {bird.user} holds {bird.invented} and http://{bird.site}/"
        jobs = [Job(kind=kind, state=FAILED, error=told, task=task, finished_at=now()) for kind, task in tasks.items()]
        opened.add_all(jobs)
        opened.flush()
        cage.failed = tuple(f"r{job.id}" for job in jobs)


def _break(cage: Birdcage, method: str) -> None:
    """A release that a verifier would have found broken; another of the same method stays as it is."""
    bird = cage.birds[7]
    told = f"user {bird.user!r} alone typed {bird.invented!r} and went to 'http://{bird.site}/'"
    log, _ = read_log(Path(cage.settings.log))
    job = claim_job(cage.database, add_run(cage.database, method, {"k": 4}, 1), even_if_busy=True)
    assert job is not None
    index = cage.app.extensions["shoal.service"].index
    cage.broken = run.make_release(cage.database, cage.settings.instance, job, log, index, _Silent())
    with cage.database.writing() as opened:
        release, done = opened.get_one(Release, cage.broken), opened.get_one(Job, job.id)
        release.holds, release.counterexample = False, told
        release.certificate = {**release.certificate, "holds": False, "counterexample": told}
        done.result = {**done.result, "holds": False, "counterexample": told}
