"""What does a published label stand for? A term for itself, a node for its leaves, a bag a|b|c for its members."""

from collections.abc import Iterable

_BETWEEN = "|"  # a term never holds it (the tokenizer cuts there), and a taxonomy that does is refused


def bag_label(terms: Iterable[str]) -> str:
    """The label of a bag: its different terms, in the order of the alphabet."""
    return _BETWEEN.join(sorted(set(terms)))


def is_bag(label: str) -> bool:
    return _BETWEEN in label


def bag_members(label: str) -> list[str]:
    """The terms of a bag; a term is a bag of itself."""
    return label.split(_BETWEEN)
