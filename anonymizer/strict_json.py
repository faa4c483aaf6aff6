"""JSON as an adversary might write it: no key twice, no NaN, no endless nesting, no number or text that is none."""

import json
from typing import Any

LARGEST = 2**53  # above, a number in JSON is another one in other programs


def read_json(text: str) -> Any:
    """What a text of JSON holds, or a ValueError that says what is wrong with it."""
    try:
        return json.loads(text, object_pairs_hook=_unique, parse_constant=_no_number)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a key stands twice")
    return found


def _no_number(word: str) -> Any:
    raise ValueError(f"{word} is no number")


def keys_of(thing: object, needed: set[str], allowed: frozenset[str] = frozenset()) -> dict[str, Any]:
    """A JSON object with all of the needed keys and no others but the allowed ones."""
    if not isinstance(thing, dict):
        raise ValueError(f"expected keys and values, got {str(thing)[:60]}")
    if missing := sorted(needed - thing.keys()):
        raise ValueError(f"{missing[0]!r} is missing")
    if strange := sorted(thing.keys() - needed - allowed):
        raise ValueError(f"{strange[0]!r} does not belong there")
    return thing


def text_of(thing: object) -> str:
    if not isinstance(thing, str) or not thing:
        raise ValueError(f"expected text, got {thing!r:.60}")
    thing.encode()  # half of a surrogate pair is no text
    return thing


def count_of(thing: object, least: int = 0) -> int:
    """A whole number from `least` on: no 5.0, no true, no "5"."""
    if type(thing) is not int or not least <= thing < LARGEST:
        raise ValueError(f"expected a whole number from {least}, got {thing!r:.60}")
    return thing
