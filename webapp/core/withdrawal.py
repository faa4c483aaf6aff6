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
from shoal.webapp.database.models import ACTIVE, DELETED, MADE, PREVIEW, QUEUED, RETIRED, RUN, RUNNING, WITHDRAWN, now

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
    _remove_files(releases.instance, number)


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
        job = _ended(session, number)
        if job.state != DELETED:
            _empty(job)
            note(session, "run.delete", account, str(number), {"note": why})
    _remove_files(releases.instance, number)


def _ended(session: Session, number: int) -> Job:
    wanted = select(Job).where(Job.id == number, Job.kind.in_((RUN, PREVIEW))).with_for_update()
    job = session.scalar(wanted) if 0 < number < 2**31 else None
    if job is None:
        raise NotFound("no such run: choose one from the list of runs")
    if job.state in (QUEUED, RUNNING):
        raise Conflict(f"run {number} is {job.state}: cancel it before you delete it")
    return job


def _remove_files(instance: Path, number: int) -> None:
    folder = release_folder(instance, f"r{number}").parent
    try:
        if folder.exists():
            shutil.rmtree(folder)
    except OSError as error:
        raise Conflict(
            f"the files of run {number} cannot be removed ({error.strerror}): mend the folder, and delete it again"
        ) from error


def finish_deletions(database: Database, instance: Path) -> None:
    """Take away the files of what was deleted by a process that ended before they were gone."""
    with database.reading() as session:
        deleted = session.scalars(select(Job.id).where(Job.state == DELETED, Job.kind.in_((RUN, PREVIEW)))).all()
    for number in deleted:
        _remove_files(instance, number)
