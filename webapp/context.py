"""Who asks, and which service and release answer? Asked once, so that an answer is wholly of one release."""

from collections.abc import Mapping
from dataclasses import dataclass

from flask import current_app, session

from shoal.webapp.accounts import find_visitor
from shoal.webapp.comparison import Asker, who_asks
from shoal.webapp.database import Account, Database
from shoal.webapp.published import Published
from shoal.webapp.question import Question, read_question
from shoal.webapp.releases import ActiveReleases, LoadedRelease, ReleaseSummary, unknown_release
from shoal.webapp.service import SearchService
from shoal.webapp.settings import Settings

VISIT = "visit"  # what a session remembers of a log-in


def service() -> SearchService:
    found: SearchService = current_app.extensions["shoal.service"]
    return found


def releases() -> ActiveReleases:
    found: ActiveReleases = current_app.extensions["shoal.releases"]
    return found


def settings() -> Settings:
    found: Settings = current_app.extensions["shoal.settings"]
    return found


def database() -> Database:
    found: Database = current_app.extensions["shoal.database"]
    return found


def visitor() -> Account | None:
    """Who is logged in, if anybody."""
    token = session.get(VISIT)
    return find_visitor(database(), token) if isinstance(token, str) else None


def _is_operator() -> bool:
    account = visitor()
    return account is not None and not account.must_change


def visible_releases() -> list[ReleaseSummary]:
    """What may be compared: by searchers what was active at some time, by the operator every release."""
    return releases().listed(only_public=not _is_operator())


def find_release(release_id: str) -> LoadedRelease:
    """The release of that name, or the active one. To searchers, one that never was active does not exist."""
    if release_id in ("", "current"):
        return releases().current()
    if not releases().was_active(release_id) and not _is_operator():
        raise unknown_release()
    return releases().get(release_id)


@dataclass(frozen=True, eq=False)
class Asked:
    """A question with all it names looked up."""

    question: Question
    release: LoadedRelease
    published: Published
    asker: Asker


def read_asked(arguments: Mapping[str, str]) -> Asked:
    question = read_question(arguments)
    release = find_release(question.release)
    published = service().published(release)
    return Asked(question, release, published, who_asks(question, service(), published))
