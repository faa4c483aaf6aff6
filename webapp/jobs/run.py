"""How does a job go? Read the log, anonymize, publish, check the promise, measure; then it is kept, or nothing is."""

import json
import os
import shutil
import time
from dataclasses import asdict
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from shoal.anonymizer.base import Anonymized, Method
from shoal.anonymizer.claims import Evidence, Verdict, verify
from shoal.anonymizer.registry import find_method, make_method, methods
from shoal.anonymizer.release_files import MANIFEST, PUBLIC, read_release, write_release
from shoal.anonymizer.verify_stored import verify_stored
from shoal.corpus.logs import load_log
from shoal.corpus.querylog import QueryLog
from shoal.corpus.version import VERSION
from shoal.evaluation.experiment.settings import privacy_parameter, written
from shoal.evaluation.protocol.blending import with_blend
from shoal.search.index import Index, index_for
from shoal.webapp.core.activation import offer
from shoal.webapp.core.audit import note
from shoal.webapp.core.logs import REJECTED, read_registered, register_log
from shoal.webapp.core.seal import release_folder, seal_of
from shoal.webapp.core.settings import Settings
from shoal.webapp.database import Database, Job, Release
from shoal.webapp.database.models import DONE, EVALUATION, INDEXING, LEVELS, READING, RUN, SERVING, TOKENS, now
from shoal.webapp.jobs.measures import count_exposure, measure_precision, measure_risk
from shoal.webapp.jobs.queue import finish_job

STEPS = ("Reading the log", "Anonymizing", "Checking the promise", "Measuring the risk", "Measuring the precision")
READING_STEPS = STEPS[:1]


class Steps(Protocol):
    """A progress callback that is also told which of the steps begins."""

    def __call__(self, done: int, total: int, stage: str) -> None: ...

    def step(self, number: int, title: str) -> None: ...


def carry_out(database: Database, settings: Settings, job: Job, steps: Steps) -> None:
    """Do what the job says, to its end."""
    if job.kind == READING:
        _read_upload(database, job, steps)
        return
    if job.kind in (INDEXING, SERVING):
        from shoal.webapp.core.served_data import index_upload, prepare

        index_upload(database, job, steps) if job.kind == INDEXING else prepare(database, settings, job, steps)
        return
    if job.kind == TOKENS:
        from shoal.webapp.jobs.tokens import find_groups

        find_groups(database, settings, job)
        return
    if job.kind == LEVELS:
        from shoal.webapp.jobs.levels import make_levels  # which makes releases, by what stands here

        make_levels(database, settings, job, steps)
        return
    if job.kind == EVALUATION:
        from shoal.webapp.jobs.evaluation import evaluate

        evaluate(database, settings, job, steps)
        return
    steps.step(1, STEPS[0])
    log = read_registered(database, job.task["log"], steps)
    if job.kind == RUN:
        make_release(database, settings.instance, job, log, settings.corpus_source, steps)
        return
    method = make_method(job.task["method"], job.task["params"])
    result = preview(method, log, job.task["users"], job.task["seed"], settings.corpus_source, steps)
    finish_job(database, job.id, DONE, result=result)


def _read_upload(database: Database, job: Job, steps: Steps) -> None:
    path = Path(job.task["path"])
    steps.step(1, READING_STEPS[0])
    log, rejected = load_log(str(path), progress=steps)
    if len(rejected):
        rejected.write(path.with_name(REJECTED))
    log_id = register_log(database, log, job.task["name"], str(path), len(rejected))
    finish_job(database, job.id, DONE, result={"log": log_id, "rejected": len(rejected), "rows": len(log)})


def release_title(method: str, params: dict[str, Any]) -> str:
    """The method's title with the parameters that tell this release from its neighbours."""
    title, shown = find_method(method).info.title, setting_text(method, params)
    return f"{title} ({shown})" if shown else title


def setting_text(method: str, params: dict[str, Any], equals: str = " = ", between: str = ", ") -> str:
    """The parameters that tell a setting from its neighbours: that of privacy, and those that are not at their default.

    One of a package that is gone has none.
    """
    if method not in methods():
        return ""
    parameters = find_method(method).info.parameters
    private = privacy_parameter(parameters)
    named = [p.name for p in parameters if p == private or params[p.name] != p.default]
    return between.join(f"{name}{equals}{written(params[name])}" for name in named)


def preview(method: Method, log: QueryLog, users: int, seed: int, corpus: str, steps: Steps) -> dict[str, Any]:
    """What a run would give, on some users only. Nothing is kept but the numbers."""
    some = sample(log, users, seed)
    made = _make(method, some, seed, steps)
    evidence = Evidence(made.release, made.assignment, made.suppressed, some, method.knowledge)
    steps.step(3, STEPS[2])
    verdict = verify(made.claim, evidence)
    measured = _measure(made, evidence.log, method, seed, index_for(corpus), steps)
    return summary(made, verdict, measured, len(evidence.log.users))


def sample(log: QueryLog, users: int, seed: int) -> QueryLog:
    """The log of some users drawn by the seed, or all of it."""
    return log.drawn(users, seed) if 0 < users < len(log.users) else log


def make_release(database: Database, instance: Path, job: Job, log: QueryLog, corpus: str | Index, steps: Steps) -> str:
    """Make the release of a job and keep it: first its files, then one transaction that says it is there."""
    task = job.task
    method = make_method(task["method"], task["params"])
    is_secret = method.info.randomness == "secret"
    seed, drawn = int(task["seed"]), method.seed_for(None if is_secret else int(task["seed"]))
    release_id = f"r{job.id}"
    folder = release_folder(instance, release_id)
    start = time.perf_counter()
    index = index_for(corpus) if isinstance(corpus, str) else corpus
    made = with_blend(_make(method, log, drawn, steps), method, log, index, seed, steps)
    _clear(folder.parent)
    manifest = write_release(folder, made, method, log, drawn)
    seconds = time.perf_counter() - start
    steps.step(3, STEPS[2])
    verdict = verify_stored(read_release(folder), log)  # what lies on disk is what is checked
    checked_at, seal = now(), seal_of(folder)
    measured = _measure(made, log, method, seed, index, steps) | {"seconds": round(seconds, 3)}
    certificate = {
        "release": release_id, "method": manifest.method, "parameters": manifest.parameters, "seed": manifest.seed,
        "data_sha256": manifest.digests["log"], "corpus_sha256": index.meta["digest"],
        "claim": asdict(manifest.claim), "sentence": verdict.sentence,
        "holds": verdict.holds, "counterexample": verdict.counterexample,
        "checked_at": checked_at.isoformat(timespec="seconds"), "version": VERSION,
        "files": {MANIFEST: seal, **{name: manifest.digests[name] for name in PUBLIC if name in manifest.digests}},
    }  # fmt: skip
    write_json(folder.parent / "certificate.json", certificate)
    write_json(folder.parent / "measures.json", measured)
    row = Release(
        id=release_id, job_id=job.id, log_id=task["log"], method=manifest.method, params=manifest.parameters,
        title=release_title(manifest.method, manifest.parameters), claim=asdict(manifest.claim), measured=measured,
        holds=verdict.holds, counterexample=verdict.counterexample, certificate=certificate, checked_at=checked_at,
        exposure=count_exposure(made.release, log, method.knowledge), seal=seal,
    )  # fmt: skip
    _keep(database, job, row, summary(made, verdict, measured, len(log.users)), log.people == "real")
    return release_id


def _clear(folder: Path) -> None:
    """Take away what an attempt left that was killed while it wrote."""
    for half in folder.glob(".*") if folder.is_dir() else ():
        shutil.rmtree(half) if half.is_dir() else half.unlink()


def _keep(database: Database, job: Job, row: Release, result: dict[str, Any], real: bool) -> None:
    with database.writing() as session:
        session.add(row)
        session.flush()
        note(session, "release.make", job.account, row.id, {"method": row.method})
        if job.task.get("offered"):
            offer(session, row, real)
        job = session.get_one(Job, job.id)
        job.state, job.finished_at, job.result, job.pid, job.birth = DONE, now(), result, 0, ""
        job.step = job.steps


def _make(method: Method, log: QueryLog, seed: int, steps: Steps) -> Anonymized:
    steps.step(2, STEPS[1])
    return method.run(log, seed=seed, progress=steps)


def _measure(
    made: Anonymized, log: QueryLog, method: Method, seed: int, index: Index, steps: Steps
) -> dict[str, float]:
    steps.step(4, STEPS[3])
    risk = measure_risk(made, log, method, seed, steps, index)
    steps.step(5, STEPS[4])
    measured = risk | measure_precision(log, index, method, seed, steps)
    return {name: float(f"{value:.6g}") for name, value in measured.items()}


def summary(made: Anonymized, verdict: Verdict, measured: dict[str, float], users: int) -> dict[str, Any]:
    """What a job's page shows."""
    return {
        "users": users, "groups": len(made.release), "sizes": group_sizes(made.release.users),
        "suppressed": asdict(made.suppressed), "claim": verdict.sentence, "claim_id": made.claim.id,
        "holds": verdict.holds, "counterexample": verdict.counterexample, "measured": measured,
    }  # fmt: skip


def group_sizes(users: np.ndarray, most: int = 16) -> list[list[int]]:
    """How many profiles are shared by how many users: [from, to, profiles], in at most 16 parts."""
    if not len(users):
        return []
    low, high = int(users.min()), int(users.max())
    width = -(-(high - low + 1) // most)
    count = np.bincount((users - low) // width)
    return [[low + i * width, low + (i + 1) * width - 1, int(n)] for i, n in enumerate(count)]


def write_json(path: Path, content: dict[str, Any]) -> None:
    """A file that is there whole or not at all."""
    aside = path.with_name(f".{path.name}-{os.getpid()}")
    with aside.open("w", encoding="utf-8") as file:
        file.write(json.dumps(content, indent=1, sort_keys=True) + "\n")
        file.flush()
        os.fsync(file.fileno())
    os.replace(aside, path)
