"""How does a picture of a report stand in a page? As SVG of the page's own colours, whose marks are links."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from html import escape, unescape
from json import dumps, loads
from typing import Any

from markupsafe import Markup


@dataclass(frozen=True)
class Mark:
    """Where a mark leads, and what is told of it."""

    address: str
    label: str
    is_active: bool = False


Link = Callable[[str], Mark | None]  # of what the picture tells of a mark
_MARK = re.compile(r'<path aria-label="([^"]*)"[^>]*role="graphics-symbol"[^>]*/>')


def inline_svg(description: dict[str, Any], label: str, link: Link) -> Markup:
    """A picture as wide as its place, named, and without what a strict page would refuse; for a phone drawn anew."""
    from shoal.evaluation.report.plots import narrowed  # altair takes 0.3 s to load: a start need not wait for it

    wide, narrow = _svg(description, label, link), narrowed(description)
    if narrow is None:
        return Markup(wide)
    small = re.sub(r'(\bid="|url\(#)', r"\1narrow-", _svg(narrow, label, link))  # no two things of one page share an id
    return Markup(f'<div class="drawn-wide">{wide}</div><div class="drawn-narrow">{small}</div>')


def _svg(description: dict[str, Any], label: str, link: Link) -> str:
    bare = {**description, "background": None, "padding": 4}
    bare.pop("title", None)
    text = _MARK.sub(lambda found: _linked(found, link), _drawn(dumps(bare)))
    return text.replace("<svg ", f'<svg role="group" aria-label="{label}" ', 1)


@lru_cache(maxsize=32)
def _drawn(description: str) -> str:
    from shoal.evaluation.report.plots import svg

    text = svg(loads(description))
    text = re.sub(r'<svg ([^>]*?)width="[\d.]+" height="[\d.]+"', r"<svg \1", text[text.index("<svg") :], count=1)
    # The letters of the browser may be wider than those it was measured with.
    text = re.sub(r'viewBox="0 0 (\d+)', lambda found: f'viewBox="0 0 {int(found[1]) + 30}', text, count=1)
    return re.sub(r' (style|aria-roledescription)="[^"]*"', "", text)


def _linked(found: re.Match[str], link: Link) -> str:
    leads = link(unescape(found[1]))
    if leads is None:
        return found[0]
    mark = re.sub(r' (aria-label="[^"]*"|role="[^"]*")', "", found[0]).replace("<path", '<path aria-hidden="true"', 1)
    kind = ' class="is-active"' if leads.is_active else ""
    return f'<a href="{escape(leads.address)}" aria-label="{escape(leads.label)}"{kind}>{mark}</a>'
