"""What is a report made of? Headings, sentences, tables and pictures, the same for every form it is written in.

In sentences, `code` and **strong** are the only marks.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Heading:
    text: str
    level: int = 2


@dataclass(frozen=True)
class Text:
    text: str
    kind: str = ""  # "lead", "label" or "aside" stand out; "code" is shown as it is


@dataclass(frozen=True)
class Points:
    texts: tuple[str, ...]


@dataclass(frozen=True)
class Table:
    header: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]
    caption: str = ""
    folded: bool = False  # long: shown when asked for


@dataclass(frozen=True)
class Picture:
    name: str  # of its files
    description: dict[str, Any]  # as evaluation.plots makes it
    caption: str


Block = Heading | Text | Points | Table | Picture


def number(value: float) -> str:
    """Three digits are what an interval lets one see."""
    if isinstance(value, int) or value == int(value):
        return f"{int(value):,}"
    return f"{value:.3f}" if abs(value) >= 0.01 else f"{value:.2g}"


def cell(value: object) -> str:
    return number(value) if isinstance(value, int | float) else str(value)


def plain(text: str) -> str:
    """Without marks."""
    return text.replace("`", "").replace("**", "")


def percent(value: float) -> str:
    return f"{100 * value:.0f} %" if abs(value) >= 0.0995 or value == 0 else f"{100 * value:.1f} %"


def listed(names: Sequence[str]) -> str:
    """a, b and c."""
    return " and ".join([", ".join(names[:-1]), names[-1]]) if len(names) > 1 else "".join(names)
