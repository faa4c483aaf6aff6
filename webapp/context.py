"""Which service and which release answer this request? Asked once, so that an answer is wholly of one release."""

from collections.abc import Mapping
from dataclasses import dataclass

from flask import current_app

from webapp.comparison import Asker, who_asks
from webapp.published import Published
from webapp.question import Question, read_question
from webapp.releases import ActiveReleases, LoadedRelease
from webapp.service import SearchService
from webapp.settings import Settings


def service() -> SearchService:
    found: SearchService = current_app.extensions["shoal.service"]
    return found


def releases() -> ActiveReleases:
    found: ActiveReleases = current_app.extensions["shoal.releases"]
    return found


def settings() -> Settings:
    found: Settings = current_app.extensions["shoal.settings"]
    return found


@dataclass(frozen=True, eq=False)
class Asked:
    """A question with all it names looked up."""

    question: Question
    release: LoadedRelease
    published: Published
    asker: Asker


def read_asked(arguments: Mapping[str, str]) -> Asked:
    question = read_question(arguments)
    release = releases().get(question.release) if question.release else releases().current()
    published = service().published(release)
    return Asked(question, release, published, who_asks(question, service(), published))
