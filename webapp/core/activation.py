"""How is a release made the active one, and how does one go back? By one row in one transaction; rows are a stack."""

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import delete, select
from sqlalchemy.orm import Session

from shoal.corpus.errors import Conflict, NotFound, Refused
from shoal.webapp.core.audit import note
from shoal.webapp.core.gate import Consent, Findings, examine, is_real, pass_gate
from shoal.webapp.core.releases import ActiveReleases
from shoal.webapp.core.seal import check_seal
from shoal.webapp.database import Activation, Database, LogFile, Proposal, Release
from shoal.webapp.database.models import ACTIVE, MADE, RETIRED, WITHDRAWN, TokenGroup, now

DAMAGED = "damaged"


@dataclass(frozen=True)
class Switch:
    """One line of the history."""

    number: int
    back_to: int | None  # of a way back: the number of the line that it leads back to
    release_id: str
    title: str
    state: str  # of the release, now; or that its files are damaged
    account: str
    note: str
    at: datetime

    @property
    def place(self) -> int:
        """How high it stands on the stack: a way back stands where it leads to."""
        return self.back_to or self.number


def get_release(database: Database, release_id: str) -> Release:
    return existing(database.find(Release, release_id))


def existing(release: Release | None) -> Release:
    if release is None:
        raise NotFound("no such release: choose one from the list of releases")
    return release


def findings_of(releases: ActiveReleases, release: Release) -> Findings:
    """The numbers that the gate would go by now."""
    with releases.database.reading() as session:
        log = session.get_one(LogFile, release.log_id)
        return examine(session, release, is_real(log, releases.of_real_people))


def activate(releases: ActiveReleases, release_id: str, consent: Consent, back_to: int | None = None) -> bool:
    """Switch all searchers of the served log to a release, at once; False if it waits for a second operator."""
    found = get_release(releases.database, release_id)
    check_seal(releases.database, releases.instance, found)  # before the transaction: files take time
    with releases.database.writing() as session:
        release, log = locked(session, release_id)
        if log.digest != releases.log_digest:
            raise Conflict(f"{release_id} was made of another log than the one being served: start the server with it")
        if release.state == ACTIVE and not release.damaged:
            return True
        if not pass_gate(session, release, consent, is_real(log, releases.of_real_people)):
            return False
        left = _leave(
            session, release, releases.of_real_people, going_back=back_to is not None, account=consent.account
        )
        _enter(session, release, consent, back_to, left)
        return True


def locked(session: Session, release_id: str) -> tuple[Release, LogFile]:
    """A release and its log. Whoever changes which release of a log is active waits here for the others."""
    log_id = existing(session.get(Release, release_id)).log_id
    log = session.scalars(select(LogFile).where(LogFile.id == log_id).with_for_update()).one()
    return session.get_one(Release, release_id, populate_existing=True), log


def _leave(session: Session, release: Release, served_as_real: bool, *, going_back: bool, account: str) -> str:
    """What was active is retired. A way back from a release that was risky takes it away from everybody."""
    old = session.scalar(select(Release).where(Release.log_id == release.log_id, Release.state == ACTIVE))
    if old is None:
        return ""
    if going_back and examine(session, old, served_as_real).is_risky:
        set_withdrawn(session, old, account, "rolled back, and it was above the ceiling")
    else:
        old.state = RETIRED
        note(session, "release.retire", account, old.id, {"for": release.id})
    session.flush()  # first, since only one may be active
    return old.id


def _enter(session: Session, release: Release, consent: Consent, back_to: int | None, left: str) -> None:
    release.state, release.published_at = ACTIVE, release.published_at or now()
    why = consent.note or (f"rolled back from {left}" if back_to is not None and left else "")
    session.add(Activation(release_id=release.id, account=consent.account, note=why, back_to=back_to))
    note(
        session, "release.activate" if back_to is None else "release.roll-back", consent.account, release.id,
        {"note": why, "typed": bool(consent.typed)},
    )  # fmt: skip


def set_withdrawn(session: Session, release: Release, account: str, why: str) -> None:
    """Nobody gets it from the next request on, in any process; and it cannot come back."""
    before, release.state = release.state, WITHDRAWN
    for of_release in (Proposal, TokenGroup):  # whoever waits for it, and who has which pseudonym in it
        session.execute(delete(of_release).where(of_release.release_id == release.id))
    note(session, "release.withdraw", account, release.id, {"note": why, "was": before})


def offer(session: Session, release: Release, real: bool) -> None:
    """Let searchers choose a release that does not serve all of them: through the same gate, by the server itself."""
    try:
        if pass_gate(session, release, Consent(confirmed=True), real):
            release.published_at = now()
            note(session, "release.offer", "", release.id)
    except (Conflict, Refused) as error:
        note(session, "release.keep-back", "", release.id, {"why": str(error)})


def history(database: Database, digest: str, limit: int = 200) -> list[Switch]:
    """The activations, the last one first."""
    with database.reading() as session:
        rows = session.execute(
            select(Activation, Release.title, Release.state, Release.damaged)
            .join(Release, Release.id == Activation.release_id)
            .join(LogFile, LogFile.id == Release.log_id)
            .where(LogFile.digest == digest)
            .order_by(Activation.id.desc())
            .limit(limit)
        ).all()
    return [
        Switch(row.id, row.back_to, row.release_id, title, DAMAGED if damaged else state, row.account, row.note, row.at)
        for row, title, state, damaged in rows
    ]


def previous(switches: list[Switch]) -> Switch | None:
    """What rolling back leads to: the next below on the stack that can still be served.

    A way back is no new height: from where it led, the next one leads further down, never up again.
    """
    if not switches:
        return None
    place = switches[0].place
    for switch in switches:
        if switch.number >= place:
            continue
        place = switch.place
        if switch.state in (MADE, RETIRED):
            return switch
    return None


def roll_back(releases: ActiveReleases, consent: Consent) -> str | None:
    """Activate the release that was active before, through the same gate; None if it waits for a second operator."""
    switches = history(releases.database, releases.log_digest, limit=10_000)
    target = previous(switches)
    if target is None:
        raise Conflict("there is no earlier release to go back to: activate one from the list of releases")
    done = activate(releases, target.release_id, consent, back_to=target.place)
    return target.release_id if done else None
