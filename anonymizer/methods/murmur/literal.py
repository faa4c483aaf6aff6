"""Murmur word by word: catalogue, menu, pages, best word and the exact table of probabilities, over dictionaries."""

from collections import Counter
from collections.abc import Mapping, Sequence
from fractions import Fraction
from math import exp, sqrt

from shoal.anonymizer.methods.murmur.menu import WORD

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


def product(one: Bag, other: Bag) -> float:
    return sum(weight * other.get(word, 0.0) for word, weight in one.items())


def shares(scores: Sequence[float]) -> list[float]:
    """Scores as shares of the best; all 0 where that is 0."""
    best = max(scores)
    return [score / best if best > 0 else 0.0 for score in scores]


def said_scores(word: str, candidates: Sequence[Bag]) -> list[float]:
    """Of each candidate where a word was said: its weight, and its likeness to those that hold it, half each."""
    holding = [document for document in candidates if document.get(word, 0.0) > 0]
    weight = shares([document.get(word, 0.0) for document in candidates])
    likeness = shares([sum(product(document, other) for other in holding) for document in candidates])
    return shares([(one + other) / 2 for one, other in zip(weight, likeness, strict=True)])


def page(word: str, candidates: Sequence[Bag]) -> list[int]:
    """The first ten candidates where a word was said ("" is none), beside the engine's order."""
    scores = said_scores(word, candidates) if word else [0.0] * len(candidates)
    engine = [1 - place / len(candidates) for place in range(len(candidates))]
    blend = [WORD * score + (1 - WORD) * order for score, order in zip(scores, engine, strict=True)]
    return sorted(range(len(candidates)), key=lambda place: -blend[place])[:10]


def average_precision(own: Bag, shown: Sequence[int], candidates: Sequence[Bag]) -> Fraction:
    """Of a page: relevant are the 30 candidates, half of all at most, that the own profile ranks first."""
    ranked = sorted(range(len(candidates)), key=lambda place: -product(own, candidates[place]))
    hits = [place in ranked[: min(30, len(candidates) // 2)] for place in shown]
    return sum((Fraction(sum(hits[:rank]), rank) for rank in range(1, len(hits) + 1) if hits[rank - 1]), Fraction(0))


def best_word(own: Bag, offered: Sequence[str], candidates: Sequence[Bag]) -> str:
    """The word of the best page; "" for none where no page is better than the engine's."""
    worth = {word: average_precision(own, page(word, candidates), candidates) for word in ("", *offered)}
    return max(worth, key=lambda word: worth[word])


def probabilities(best: str, offered: Sequence[str], epsilon: float) -> dict[str, float]:
    """Of every possible answer: e^eps / (e^eps + m) for the best, 1 / (e^eps + m) for each of the others."""
    whole = exp(epsilon) + len(offered)
    return {word: (exp(epsilon) if word == best else 1.0) / whole for word in (*offered, "")}
