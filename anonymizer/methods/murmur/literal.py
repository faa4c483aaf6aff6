"""Murmur word by word: catalogue, menu, best word and the exact table of probabilities, over plain dictionaries."""

from collections import Counter
from collections.abc import Mapping, Sequence
from math import exp, sqrt

Bag = Mapping[str, float]


def catalogue(bags: Sequence[Mapping[str, int]], k: int) -> dict[str, tuple[int, float]]:
    """Of each term that at least k users hold: how many do, and the mean over all who have a profile."""
    having = [bag for bag in bags if bag]
    holders = Counter(term for bag in having for term in bag)
    typed = {term: sum(bag.get(term, 0) for bag in having) for term in holders}
    return {term: (many, typed[term] / len(having)) for term, many in holders.items() if many >= k}


def spread(word: str, candidates: Sequence[Bag]) -> float:
    """h(w): the standard deviation of its weight among the candidates."""
    weights = [document.get(word, 0.0) for document in candidates]
    mean = sum(weights) / len(weights)
    return sqrt(sum((weight - mean) ** 2 for weight in weights) / len(weights))


def menu(candidates: Sequence[Bag], mean: Mapping[str, float], size: int) -> list[str]:
    """The words with the largest h(w) * avg(w), in that order."""
    worth = {word: spread(word, candidates) * typed for word, typed in mean.items()}
    return [word for word in sorted(worth, key=lambda word: -worth[word]) if worth[word] > 0][:size]


def best_word(own: Bag, offered: Sequence[str], candidates: Sequence[Bag]) -> str:
    """The largest own(w) * h(w) of the menu; "" for none where all are 0."""
    worth = {word: own.get(word, 0.0) * spread(word, candidates) for word in offered}
    best = max(worth, key=lambda word: worth[word], default="")
    return best if worth.get(best, 0.0) > 0 else ""


def probabilities(best: str, offered: Sequence[str], epsilon: float) -> dict[str, float]:
    """Of every possible answer: e^eps / (e^eps + m) for the best, 1 / (e^eps + m) for each of the others."""
    whole = exp(epsilon) + len(offered)
    return {word: (exp(epsilon) if word == best else 1.0) / whole for word in (*offered, "")}
