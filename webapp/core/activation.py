"""How is a release made the active one? By one row in one transaction, which is also the history."""

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import select

from shoal.corpus.errors import Conflict, NotFound, Refused
from shoal.webapp.core.releases import latest_activation
from shoal.webapp.database import Activation, Database, LogFile, Release

NO_PROMISE = "none"  # the claim of a release that promises nothing


class NeedsConfirmation(Conflict):
    """A release that the operator must say yes to twice."""


@dataclass(frozen=True)
class Switch:
    """One line of the history."""

    release_id: str
    title: str
    account: str
    note: str
    at: datetime


def concerns(release: Release, does_not_protect: str = "") -> list[str]:
    """Why somebody should think twice before activating a release; empty if there is no reason."""
    found = []
    if release.claim["id"] == NO_PROMISE:
        found.append(
            f"This release promises nothing. {release.certificate.get('sentence', '')} {does_not_protect}".strip()
        )
    alone = release.measured.get("anonymity_min")
    if alone is not None and alone < 2:
        found.append("Some people are alone with their published profile: who recognises it has found the person.")
    return found


def get_release(database: Database, release_id: str) -> Release:
    return _existing(database.find(Release, release_id))


def _existing(release: Release | None) -> Release:
    if release is None:
        raise NotFound("no such release: choose one from the list of runs")
    return release


def activate(
    database: Database, release_id: str, digest: str, *, account: str = "", note: str = "", confirmed: bool = False
) -> None:
    """Switch all searchers of the served log to a release, at once."""
    with database.writing() as session:
        release = _existing(session.get(Release, release_id))
        if session.get_one(LogFile, release.log_id).digest != digest:
            raise Conflict(f"{release_id} was made of another log than the one being served: start the server with it")
        if not release.holds:
            raise Refused(f"{release_id} does not keep its promise, so it cannot be activated: see its counterexample")
        if session.scalar(latest_activation(digest)) == release_id:
            return
        if concerns(release) and not confirmed:
            raise NeedsConfirmation(f"activating {release_id} needs a confirmation: {' '.join(concerns(release))}")
        session.add(Activation(release_id=release_id, account=account, note=note))


def history(database: Database, digest: str, limit: int = 200) -> list[Switch]:
    """The activations, the last one first; its release is the active one."""
    with database.reading() as session:
        rows = session.execute(
            select(Activation, Release.title)
            .join(Release, Release.id == Activation.release_id)
            .join(LogFile, LogFile.id == Release.log_id)
            .where(LogFile.digest == digest)
            .order_by(Activation.id.desc())
            .limit(limit)
        ).all()
    return [Switch(row.release_id, title, row.account, row.note, row.at) for row, title in rows]


def previous(switches: list[Switch]) -> Switch | None:
    """What rolling back leads to: the release that was active before this one."""
    return next((switch for switch in switches[1:] if switch.release_id != switches[0].release_id), None)


def roll_back(database: Database, digest: str, account: str = "") -> str:
    """Activate the release that was active before. It was confirmed then, so it is not asked for again."""
    switches = history(database, digest, limit=1000)
    target = previous(switches)
    if target is None:
        raise Conflict("there is no earlier release to go back to: activate one from the list of runs")
    note = f"rolled back from {switches[0].release_id}"
    activate(database, target.release_id, digest, account=account, note=note, confirmed=True)
    return target.release_id
