"""An evaluation of many settings as a job: what `shoal evaluate` does, with results that grow, and are published."""

from collections.abc import Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

from sqlalchemy import select

from shoal.corpus.errors import Conflict, InputError, NotFound
from shoal.corpus.progress import Progress
from shoal.evaluation.experiment import Experiment, make_experiment
from shoal.evaluation.experiment.settings import Setting, level_settings
from shoal.evaluation.run.outcomes import begin, with_all_controls, with_controls
from shoal.evaluation.run.results import Results, methods_text, read_results, write_results
from shoal.evaluation.run.summary import conduct, summarize
from shoal.webapp.core.audit import note
from shoal.webapp.core.logs import get_log
from shoal.webapp.core.settings import Settings
from shoal.webapp.core.withdrawal import evaluation_folder
from shoal.webapp.database import Database, Job
from shoal.webapp.database.models import DONE, EVALUATION, now
from shoal.webapp.jobs.queue import add_job, finish_job, get_job
from shoal.webapp.jobs.run import Steps

# What a thorough evaluation draws more of than a quick one; the usual one is that of the command line.
THOROUGH: dict[str, dict[str, Any]] = {
    "quick": {"queries": 2, "victims": 500},
    "usual": {},
    "thorough": {"seeds": [0, 1, 2]},
}
LEVELS = (3, 5)  # settings of each method
_STEPS = ("Preparing the experiment", "Measuring")


def add_evaluation(
    database: Database,
    corpus: str,
    log_id: int,
    methods: Sequence[str],
    *,
    levels: int = 5,
    thorough: str = "quick",
    account: str = "",
) -> int:
    """An evaluation of some methods, each at so many levels, beside the controls. Bad settings are refused here."""
    if thorough not in THOROUGH or levels not in LEVELS:
        raise InputError(f"choose {' or '.join(map(str, LEVELS))} levels, and one of {', '.join(THOROUGH)}")
    settings = [setting for method in methods for setting in level_settings(method)[:: 2 if levels == 3 else 1]]
    given = {
        "corpus": corpus,
        "log": get_log(database, log_id).source,
        "methods": methods_text(with_controls(settings)),
        **THOROUGH[thorough],
    }
    make_experiment(given)
    task = {"log": log_id, "given": given, "levels": levels, "thorough": thorough, "methods": list(methods)}
    return add_job(database, EVALUATION, task, len(_STEPS), account)


def evaluate(database: Database, settings: Settings, job: Job, steps: Steps) -> None:
    """Measure method by method, and write what is known after each. The server publishes what it began itself."""
    folder = evaluation_folder(settings.instance, job.id)
    steps.step(1, _STEPS[0])
    experiment = make_experiment(job.task["given"])
    run = begin(experiment, folder, jobs=1, progress=steps)
    steps.step(2, _STEPS[1])
    asked, told = list(experiment.settings), _Overall(experiment, steps)
    others = [setting for setting in with_all_controls(asked) if setting not in asked]
    compared = run.measure([*_controls(asked), *others], told)
    outcomes = []
    for _, same in groupby(asked, key=lambda setting: setting.method):
        measured = run.measure(list(same), told)
        outcomes += measured
        told.done += len(measured)
        known = {outcome.setting for outcome in outcomes}
        beside = [outcome for outcome in compared if outcome.setting not in known]
        write_results(folder, summarize(run, [*outcomes, *beside], len(outcomes)))
    # What is measured is kept: this adds what decides who is best, and is what `shoal evaluate` writes.
    write_results(folder, conduct(run, told))
    result = {"settings": len(outcomes), "users": len(run.workload.users)}
    finish_job(database, job.id, DONE, result=result | ({} if job.account else _publication()))


def _controls(asked: Sequence[Setting]) -> list[Setting]:
    """Those of the settings that all others are compared with."""
    return [setting for setting in asked if setting.method in ("plain", "everyone", "original")]


class _Overall:
    """How many of all settings are measured, whatever part of them is at work."""

    def __init__(self, experiment: Experiment, progress: Progress) -> None:
        self._total, self._progress, self.done = len(experiment.settings), progress, 0

    def __call__(self, done: int, total: int, stage: str) -> None:
        self._progress(self.done, self._total, "settings measured")


def _publication() -> dict[str, str]:
    return {"published_at": now().isoformat(timespec="seconds")}


def publish(database: Database, number: int, account: str) -> None:
    """Show an evaluation to everybody, at /answer."""
    get_evaluation(database, number)
    with database.writing() as session:
        job = session.get_one(Job, number, with_for_update=True)
        if job.state != DONE:
            raise Conflict(f"evaluation {number} is {job.state}: only one that is done can be published")
        job.result = job.result | _publication()
        note(session, "evaluation.publish", account, str(number))


def get_evaluation(database: Database, number: int) -> Job:
    job = get_job(database, number)
    if job.kind != EVALUATION:
        raise NotFound("no such evaluation: choose one from the list of evaluations")
    return job


def list_evaluations(database: Database) -> list[Job]:
    """All of them, the latest first."""
    with database.reading() as session:
        return list(session.scalars(select(Job).where(Job.kind == EVALUATION).order_by(Job.id.desc())))


def published_evaluation(database: Database, log_id: int, corpus: str) -> Job | None:
    """The evaluation of a log over a corpus that was published last."""
    done = [job for job in list_evaluations(database) if "published_at" in job.result and is_over(job, log_id, corpus)]
    return max(done, key=lambda job: str(job.result["published_at"]), default=None)


def is_over(job: Job, log_id: int, corpus: str) -> bool:
    """Whether an evaluation is of this log and this corpus."""
    return bool(job.task["log"] == log_id and job.task["given"]["corpus"] == corpus)


def results_so_far(instance: Path, number: int) -> Results | None:
    """What an evaluation has found until now; None before the first method is measured.

    None also where another version of the program wrote what this one cannot read: it is measured again.
    """
    try:
        return read_results(evaluation_folder(instance, number))
    except InputError:
        return None
