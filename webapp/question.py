"""What is asked for? Everything a view depends on, read from its address, so that every view has a permalink."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from urllib.parse import urlencode

from shoal.corpus.errors import InputError
from shoal.search.personal import DEFAULT_WEIGHT

VIEWS = ("compare", "plain", "personalized", "anonymized")
PAGE_SIZE = 10
PAGES = 10
LONGEST_QUERY = 2_000
_LONGEST_NAME = 100


@dataclass(frozen=True)
class Question:
    """A query, who asks it (a user of the data set, a group that the browser chose, or nobody), and how to show it."""

    query: str = ""
    user: str = ""  # a key of webapp.people
    group: str = ""  # a pseudonym of the release
    release: str = ""  # empty: the active one
    weight: float = DEFAULT_WEIGHT
    page: int = 1
    view: str = "compare"

    def but(self, **changes: object) -> "Question":
        return replace(self, **changes)  # type: ignore[arg-type]

    def address(self, path: str = "/search", **more: object) -> str:
        """The permalink: only what differs from the defaults, always in the same order."""
        words = {
            "q": self.query, "user": self.user, "group": self.group, "release": self.release,
            "weight": "" if self.weight == DEFAULT_WEIGHT else f"{self.weight:g}",
            "page": "" if self.page == 1 else str(self.page),
            "view": "" if self.view == "compare" else self.view,
        }  # fmt: skip
        given = {**{name: value for name, value in words.items() if value}, **more}
        return f"{path}?{urlencode(given, doseq=True)}" if given else path


def read_question(arguments: Mapping[str, str]) -> Question:
    """The question in an address. Unknown values are refused with the valid ones; a long query is cut."""
    view = arguments.get("view") or "compare"
    if view not in VIEWS:
        raise InputError(f"view={view[:20]} is unknown: choose one of {', '.join(VIEWS)}")
    return Question(
        query=clean_query(arguments.get("q", "")),
        user=arguments.get("user", "")[:_LONGEST_NAME],
        group=arguments.get("group", "")[:_LONGEST_NAME],
        release=arguments.get("release", "")[:_LONGEST_NAME],
        weight=read_number(arguments, "weight", DEFAULT_WEIGHT, 0, 1),
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
