"""Who did what, when? Every act that others may ask about later is one row: activations, log-ins, deletions, exports.

No row holds anything that somebody typed into a search, and none is ever changed.
"""

from collections.abc import Mapping
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from shoal.webapp.database import Database, Event

_LONGEST_NAME, _LONGEST_SUBJECT = 64, 200


def record(database: Database, action: str, who: str, what: str = "", details: Mapping[str, Any] | None = None) -> None:
    """Write down an act that is done. One that changes the database is noted in the same transaction, by `note`."""
    with database.writing() as session:
        note(session, action, who, what, details)


def note(session: Session, action: str, who: str, what: str = "", details: Mapping[str, Any] | None = None) -> None:
    """Write down an act with the transaction that does it: both are there, or neither."""
    event = Event(
        action=action, account=who[:_LONGEST_NAME], subject=what[:_LONGEST_SUBJECT], details=dict(details or {})
    )
    session.add(event)


def list_events(database: Database, *, action: str = "", subject: str = "", limit: int = 500) -> list[Event]:
    """What was done, the last first: everything, one kind of act (`release.` for all on releases), or to one thing."""
    wanted = select(Event).order_by(Event.id.desc()).limit(limit)
    if action:
        wanted = wanted.where(Event.action.startswith(action, autoescape=True))
    if subject:
        wanted = wanted.where(Event.subject == subject)
    with database.reading() as session:
        return list(session.scalars(wanted))
