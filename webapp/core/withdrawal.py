"""How is a release taken back, and what is deleted? What others fetched before cannot be reached, and this says so."""

import shutil
from pathlib import Path

from sqlalchemy import select
from sqlalchemy.orm import Session

from shoal.corpus.errors import Conflict, NotFound
from shoal.webapp.core.activation import locked, set_withdrawn
from shoal.webapp.core.audit import note
from shoal.webapp.core.releases import ActiveReleases
from shoal.webapp.core.seal import release_folder
from shoal.webapp.database import Database, Job, Release
from shoal.webapp.database.models import (
    ACTIVE,
    DELETED,
    EVALUATION,
    MADE,
    PREVIEW,
    QUEUED,
    RETIRED,
    RUN,
    RUNNING,
    WITHDRAWN,
    now,
)

OUT_OF_REACH = "Copies that others fetched while it was public are out of reach, and stay there."


def withdraw(releases: ActiveReleases, release_id: str, account: str, why: str = "") -> None:
    """Take a release away from everybody, for good. If it was the active one, results are plain from now on."""
    with releases.database.writing() as session:
        release, _ = locked(session, release_id)
        if release.state in (WITHDRAWN, DELETED):
            return
        if release.published_at is None:
            raise Conflict(f"{release_id} was never public, so there is nothing to withdraw: delete it instead")
        set_withdrawn(session, release, account, why)


def delete_release(releases: ActiveReleases, release_id: str, account: str, why: str = "") -> None:
    """Delete a release with its run: first from what is public, then its files. A row stays, so that its id does."""
    with releases.database.writing() as session:
        release, _ = locked(session, release_id)
        if release.state == ACTIVE:
            raise Conflict(f"{release_id} serves all searchers: withdraw it, or activate another, before you delete it")
        if release.state in (MADE, RETIRED) and release.published_at is not None:
            set_withdrawn(session, release, account, why or "deleted")
        if release.state != DELETED:
            _empty(session.get_one(Job, release.job_id))
            _forget(release)
            note(session, "release.delete", account, release_id, {"note": why})
        number = release.job_id
    _remove_run(releases.instance, number)


def _forget(release: Release) -> None:
    """What is left says that there was a release, of which method, and when; nothing of what it said or measured."""
    release.state, release.counterexample, release.damaged = DELETED, "", ""
    release.certificate, release.measured, release.exposure = {}, {}, {}


def _empty(job: Job) -> None:
    job.state, job.result, job.error, job.finished_at = DELETED, {}, "", job.finished_at or now()


def delete_run(releases: ActiveReleases, number: int, account: str, why: str = "") -> None:
    """Delete a run or a preview that is at its end, with the release that it made."""
    release_id = releases.database.ask(select(Release.id).where(Release.job_id == number)) if number < 2**31 else None
    if release_id is not None:
        delete_release(releases, release_id, account, why)
        return
    with releases.database.writing() as session:
        job = _ended(session, number, RUN, PREVIEW)
        if job.state != DELETED:
            _empty(job)
            note(session, "run.delete", account, str(number), {"note": why})
    _remove_run(releases.instance, number)


def _ended(session: Session, number: int, *kinds: str) -> Job:
    """A job of one of these kinds that is at its end, and stays there while the transaction lasts."""
    wanted = select(Job).where(Job.id == number, Job.kind.in_(kinds)).with_for_update()
    job = session.scalar(wanted) if 0 < number < 2**31 else None
    if job is None:
        raise NotFound(f"no such {kinds[0]}: choose one from the list of {kinds[0]}s")
    if job.state in (QUEUED, RUNNING):
        raise Conflict(f"{kinds[0]} {number} is {job.state}: cancel it before you delete it")
    return job


def _remove_run(instance: Path, number: int) -> None:
    _remove_folder(release_folder(instance, f"r{number}").parent, f"run {number}")


def evaluation_folder(instance: Path, number: int) -> Path:
    return instance / "evaluations" / f"e{number}"


def delete_evaluation(database: Database, instance: Path, number: int, account: str) -> None:
    """Delete an evaluation that is at its end, with all that it measured; from /answer it is gone at once."""
    with database.writing() as session:
        job = _ended(session, number, EVALUATION)
        if job.state != DELETED:
            _empty(job)
            note(session, "evaluation.delete", account, str(number))
    _remove_folder(evaluation_folder(instance, number), f"evaluation {number}")


def _remove_folder(folder: Path, whose: str) -> None:
    try:
        if folder.exists():
            shutil.rmtree(folder)
    except OSError as error:
        raise Conflict(
            f"the files of {whose} cannot be removed ({error.strerror}): mend the folder, and delete it again"
        ) from error


def finish_deletions(database: Database, instance: Path) -> None:
    """Take away the files of what was deleted by a process that ended before they were gone."""
    with database.reading() as session:
        deleted = session.execute(select(Job.id, Job.kind).where(Job.state == DELETED)).all()
    for number, kind in deleted:
        if kind in (RUN, PREVIEW):
            _remove_run(instance, number)
        if kind == EVALUATION:
            _remove_folder(evaluation_folder(instance, number), f"evaluation {number}")
