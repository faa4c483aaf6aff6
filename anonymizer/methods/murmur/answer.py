"""Which word does the device say? That of the menu with the best page for the person, or by chance another; never too
many different.

The device's side of Murmur. Randomized response over the words of the menu and "none": of m + 1 possible answers the
true one has the probability e^eps / (e^eps + m), every other 1 / (e^eps + m).
"""

from collections.abc import Collection, Sequence
from math import exp
from random import Random

import numpy as np
from scipy.sparse import csr_array

from shoal.anonymizer.methods.murmur.menu import NONE, PAGE, Menu, products
from shoal.corpus.searches import Device

OWN_FIRST = 30  # candidates that a page is held against: those that the own profile ranks first, half of them at most
# 2520 / rank: whole numbers, so that equal pages are equal on every machine.
PARTS = np.array([2520 // rank for rank in range(1, PAGE + 1)])


def answer(menu: Menu, query: str, device: Device, epsilon: float | None, words: int) -> str:
    """What is said to a query; what was said to it before, where it was asked before."""
    asked = as_asked(query)
    if asked not in device.said:
        options, best = choices(menu, device, words)
        device.said[asked] = best if epsilon is None else randomized(best, options, epsilon, device.random)
    return device.said[asked]


def as_asked(query: str) -> str:
    """What a query is remembered by: neither case nor spaces make it another."""
    return " ".join(query.lower().split())


def open_words(menu: Menu, said: Collection[str], words: int) -> np.ndarray:
    """Which words of a menu may be said after these different ones."""
    return np.array([len(said) < words or word in said for word in menu.words], dtype=bool)


def choices(menu: Menu, device: Device, words: int) -> tuple[list[str], str]:
    """What may be said to this menu, and what is best: the word of the best page, none where the engine's is as good.

    Once so many different words were said, only those may be. The server knows that as well as the device does. A word
    that a crafted menu repeats is one answer: else the others would be likelier for those whose best word it is.
    """
    said = {word for word in device.said.values() if word != NONE}
    open_to = open_words(menu, said, words)
    worth = np.where(open_to, gains(menu, device.own), 0)
    options = [word for word, may in zip(menu.words, open_to.tolist(), strict=True) if may]
    best = menu.words[int(worth.argmax())] if len(menu) and worth.max() > 0 else NONE
    return list(dict.fromkeys([*options, NONE])), best


def gains(menu: Menu, own: csr_array) -> np.ndarray:
    """How much better the page of each word is for the person than the engine's, by the ranking of the own profile."""
    scores = products(menu.candidates, own)
    first = np.zeros(len(scores), dtype=bool)
    first[np.argsort(-scores, kind="stable")[: min(OWN_FIRST, len(scores) // 2)]] = True
    engine = np.arange(menu.pages.shape[1])
    return precision(first[menu.pages]) - precision(first[engine])


def precision(hits: np.ndarray) -> np.ndarray:
    """The average precision of pages, of which is told what hits, as a whole number: the sum over hits of P@rank."""
    return np.asarray((np.cumsum(hits, axis=-1) * hits * PARTS[: hits.shape[-1]]).sum(axis=-1))


def probability_of_truth(options: int, epsilon: float) -> float:
    """Of the best answer, among so many possible ones; each other one has e^-epsilon times that."""
    return exp(epsilon) / (exp(epsilon) + options - 1)


def randomized(best: str, options: Sequence[str], epsilon: float, random: Random) -> str:
    """The best answer, or one of the others, all alike."""
    others = [option for option in options if option != best]
    if not others or random.random() < probability_of_truth(len(options), epsilon):
        return best
    return random.choice(others)
