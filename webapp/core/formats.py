"""How are numbers, moments, labels and the addresses of documents written on pages?"""

from collections.abc import Mapping
from datetime import datetime
from functools import lru_cache
from urllib.parse import urlsplit

from flask import Flask
from markupsafe import Markup, escape

from shoal.corpus.knowledge.taxonomy import bag_members, is_bag
from shoal.evaluation.measures.registry import columns
from shoal.search.snippets import Snippet

KINDS = {"plain": "Plain", "personalized": "Personalized", "anonymized": "Anonymized"}
_SCHEMES = ("http", "https")


def register(app: Flask) -> None:
    app.jinja_env.trim_blocks = app.jinja_env.lstrip_blocks = True
    app.jinja_env.filters.update(percent=percent, moment=moment, safe_link=safe_link, number=number, people=people)
    app.jinja_env.filters.update(
        select_given=select_given, label_words=label_words, measured=measured, in_hundred=in_hundred
    )
    app.jinja_env.filters.update(share_interval=share_interval, marked=marked, places=places)
    app.jinja_env.globals.update(kinds=KINDS)
    app.jinja_env.filters.update(measure_title=lambda name: columns()[name].short)


def percent(share: float) -> str:
    """0.171 -> 17 %; what is small but not nothing stays so."""
    value = 100 * share
    if 0 < value < 1:
        return "under 1 %"
    if 99 < value < 100:
        return "over 99 %"
    return f"{value:.0f} %"


def share_interval(low: float, high: float) -> str:
    """0.27, 0.42 -> 27 to 42 %; below nothing there is nothing."""
    return f"{max(0.0, 100 * low):.0f} to {max(0.0, 100 * high):.0f} %"


def in_hundred(share: float) -> str:
    """0.128 -> 12.8, of 100 people."""
    return f"{100 * share:.1f}".removesuffix(".0")


def moment(time: datetime) -> str:
    return f"{time:%d %B %Y, %H:%M} UTC".lstrip("0")


def number(value: float) -> str:
    return f"{value:,.0f}" if value == int(value) else f"{value:.3g}"


def measured(value: float, name: str) -> str:
    """The value of a measure, as its unit is written."""
    return columns()[name].written(value)


def people(count: int) -> str:
    return "1 person" if count == 1 else f"{count:,} people"


def select_given(values: dict[str, str]) -> dict[str, str]:
    """Without those that are empty."""
    return {name: value for name, value in values.items() if value}


def label_words(label: str) -> str:
    """A published label as people read it: WordNet's `fruit.n.01` is "any fruit", a bag a|b is "a or b"."""
    if is_bag(label):
        words = bag_members(label)
        return " or ".join([", ".join(words[:-1]), words[-1]])
    name, _, rest = label.partition(".n.")
    return f"any {name.replace('_', ' ')}" if rest.isdigit() else label.replace("_", " ")


def defused(cell: str) -> str:
    """A cell of a CSV file that no spreadsheet takes for a formula."""
    return f"'{cell}" if cell.startswith(("=", "+", "-", "@", "\t", "\r")) else cell


def marked(snippet: Snippet) -> Markup:
    """A snippet with the words of the query marked."""
    pieces = [
        f"<mark>{escape(piece.text)}</mark>" if piece.highlighted else escape(piece.text) for piece in snippet.pieces
    ]
    return Markup("".join(pieces))


def places(ranks: Mapping[str, int], here: str) -> Markup:
    """The rank of a result in every column. Names and numbers of ours, thirty times on a page: nothing to escape."""
    return Markup(
        "".join(
            f'<span class="place kind-{kind}{" here" if kind == here else ""}" title="{KINDS[kind]}: rank {rank}">'
            f'<span class="visually-hidden">{KINDS[kind]} </span>{rank}</span>'
            for kind, rank in ranks.items()
        )
    )


def safe_link(address: str) -> str:
    """The address if it leads to the web, else an empty string."""
    cleaned = address.strip()
    if not cleaned.isprintable():
        return ""
    try:
        parts = urlsplit(cleaned)
        host = parts.hostname
    except ValueError:
        return ""
    return cleaned if parts.scheme.lower() in _SCHEMES and host else ""


@lru_cache(4096)
def source_of(address: str) -> str:
    """The site that a document comes from, as people name it."""
    safe = safe_link(address)
    return (urlsplit(safe).hostname or "").removeprefix("www.") if safe else ""
