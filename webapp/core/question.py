"""What is asked, by whom, under which release? All of it is read from the address: every view has a permalink."""

from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import quote_plus, urlencode

import numpy as np
from flask import g

from shoal.corpus.errors import InputError
from shoal.search.personal import DEFAULT_WEIGHT
from shoal.webapp.core.context import releases, service
from shoal.webapp.core.dial import RISKS, Choice, choose
from shoal.webapp.core.login import is_operator
from shoal.webapp.core.people import Person
from shoal.webapp.core.releases import LoadedRelease, Published, ReleaseSummary, unknown_release
from shoal.webapp.core.tokens import own_group

VIEWS = ("compare", "titles", "plain", "personalized", "anonymized")
PAGE_SIZE = 10
PAGES = 10
LONGEST_QUERY = 2_000
_LONGEST_NAME = 100


@dataclass(frozen=True)
class Question:
    """A query, who asks it (a user of the data set, a group that the browser chose, or nobody), and how to show it."""

    query: str = ""
    user: str = ""  # a key of a person
    group: str = ""  # a pseudonym of the release
    word: str = ""  # that the browser said, where the release has a catalogue
    release: str = ""  # empty: what the dial says
    risk: int = 0  # of the dial, in 100 people; 0: the active release
    weight: float | None = None  # of the profile; none: what was learned for the release
    page: int = 1
    view: str = "compare"

    def but(self, **changes: object) -> "Question":
        return Question(**{**vars(self), **changes})

    def address(self, path: str = "/search", **more: object) -> str:
        """The permalink: only what differs from the defaults, always in the same order."""
        words = {
            "q": self.query, "user": self.user, "group": self.group, "word": self.word,
            "release": self.release,
            "risk": str(self.risk or ""),
            "weight": "" if self.weight is None else f"{self.weight:g}",
            "page": "" if self.page == 1 else str(self.page),
            "view": "" if self.view == "compare" else self.view,
        }  # fmt: skip
        said = [f"{name}={quote_plus(value)}" for name, value in words.items() if value]
        said += [urlencode(more, doseq=True)] if more else []
        return f"{path}?{'&'.join(said)}" if said else path


def read_question(arguments: Mapping[str, str]) -> Question:
    """The question in an address. Unknown values are refused with the valid ones; a long query is cut."""
    view = arguments.get("view") or "compare"
    if view not in VIEWS:
        raise InputError(f"view={view[:20]} is unknown: choose one of {', '.join(VIEWS)}")
    risk = arguments.get("risk") or "0"
    if risk not in map(str, (0, *RISKS)):
        raise InputError(f"risk={risk[:20]} is not on the dial: choose one of {', '.join(map(str, RISKS))} in 100")
    return Question(
        query=clean_query(arguments.get("q", "")),
        user=arguments.get("user", "")[:_LONGEST_NAME],
        group=arguments.get("group", "")[:_LONGEST_NAME],
        word=arguments.get("word", "")[:_LONGEST_NAME],
        release=arguments.get("release", "")[:_LONGEST_NAME],
        risk=int(risk),
        weight=read_number(arguments, "weight", DEFAULT_WEIGHT, 0, 1) if arguments.get("weight") else None,
        page=int(read_number(arguments, "page", 1, 1, PAGES)),
        view=view,
    )


def clean_query(text: str) -> str:
    """What can be shown and looked up: without control characters, surrogates and outer blanks."""
    shown = "".join(letter if letter.isprintable() else " " for letter in text[:LONGEST_QUERY])
    return " ".join(shown.split())


def read_number(arguments: Mapping[str, str], name: str, default: float, low: float, high: float) -> float:
    text = arguments.get(name) or str(default)
    try:
        value = float(text)
    except ValueError:
        value = float("nan")
    if not low <= value <= high:
        raise InputError(f"{name}={text[:20]} is not allowed: give a number from {low:g} to {high:g}")
    return value


@dataclass(frozen=True, eq=False)
class Asker:
    """What re-ranks: a user's own profile and the published one, a group's, one word, or nothing."""

    person: Person | None
    published: Published | None
    profiles: np.ndarray  # rows of the release
    word: str = ""  # that ranks instead

    def weight(self, question: Question) -> float:
        """What the profile weighs: what was asked for, or learned for the release, or the usual."""
        if question.weight is not None:
            return question.weight
        average = self.published.average if self.published is not None else None
        return DEFAULT_WEIGHT if average is None else average.blend.profile

    def group_size(self) -> int:
        return self.published.size(self.profiles) if self.published is not None else 0


@dataclass(frozen=True, eq=False)
class Asked:
    """A question with all it names looked up, once: its answer is wholly of one release."""

    question: Question
    release: LoadedRelease
    published: Published
    asker: Asker
    choice: Choice | None = None  # what the dial says, where it is asked


def read_asked(arguments: Mapping[str, str]) -> Asked:
    return look_up(read_question(arguments))


def look_up(question: Question) -> Asked:
    choice = choose(visible_releases(), question.risk) if question.risk else None
    chosen = choice.release.release_id if choice is not None and choice.release is not None else ""
    release = find_release(question.release or chosen)
    published = service().published(release)
    if choice is not None and not (question.release or chosen):  # nothing is as safe, so nothing is used
        return Asked(question, release, published, _without_release(question), choice)
    return Asked(question, release, published, _asker(question, published), choice)


def _without_release(question: Question) -> Asker:
    person = service().people.get(question.user) if question.user else None
    return Asker(person, None, np.zeros(0, dtype=np.int64))


def _asker(question: Question, published: Published) -> Asker:
    """The user or the group in the question. An unknown one is an error, never somebody else."""
    if question.user:
        person = service().people.get(question.user)
        return Asker(person, published, published.profiles_of(person.row))
    if question.group:
        return Asker(None, published, published.find_group(question.group))
    if question.word:
        return Asker(None, published, np.zeros(0, dtype=np.int64), published.find_word(question.word))
    own = own_group(published)  # of a person with a token
    if own is not None and len(own.profiles):
        return Asker(None, published, own.profiles)
    return Asker(None, None, np.zeros(0, dtype=np.int64))


def visible_releases() -> list[ReleaseSummary]:
    """What may be compared: by searchers what was active at some time, by the operator every release.

    Where the people are real, searchers see the active one only: two releases together tell more than each. It is
    looked up once for an answer, which is then wholly of one list.
    """
    if "visible_releases" not in g:
        g.visible_releases = _visible_releases()
    found: list[ReleaseSummary] = g.visible_releases
    return found


def _visible_releases() -> list[ReleaseSummary]:
    if releases().of_real_people and not is_operator():
        return [one for one in releases().listed(only_public=True) if one.release_id == releases().current_id()]
    return releases().listed(only_public=not is_operator())


def find_release(release_id: str) -> LoadedRelease:
    """The release of that name, or what serves now. To searchers, one that was never published does not exist."""
    if not release_id:
        return releases().serving()
    if release_id == "current":
        return releases().current()
    if releases().of_real_people and release_id != releases().current_id() and not is_operator():
        raise unknown_release()
    return releases().get(release_id, only_public=not is_operator())
