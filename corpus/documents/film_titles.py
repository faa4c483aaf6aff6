"""When do two lists mean the same film? By the names its title holds, and its year."""

import re
import unicodedata

_PARENTHESES = re.compile(r"\(([^)]*)\)")
_LAST_ARTICLE = re.compile(r"^(.*), (the|a|an|les|la|le|l'|il|el|der|die|das)$", re.IGNORECASE)
_YEAR = re.compile(r"\d{4}")


def names_of(title: str) -> list[str]:
    """`Postino, Il (The Postman)` is called `ilpostino` and `thepostman`."""
    names = [_PARENTHESES.sub(" ", title), *_PARENTHESES.findall(title)]
    return list(dict.fromkeys(filter(None, map(_plain, names))))


def _plain(name: str) -> str:
    """Only letters and digits, without case and accents, the article in front."""
    name = _LAST_ARTICLE.sub(r"\2 \1", " ".join(name.split()))
    folded = unicodedata.normalize("NFKD", name.casefold().replace("&", "and"))
    return "".join(letter for letter in folded if letter.isalnum())


def year_of(date: str) -> int | None:
    """The year a date begins with, if it has one."""
    found = _YEAR.match(date)
    return None if found is None else int(found[0])
