"""Which word does the device say? The best of the menu for the person, or by chance another; never too many different.

The device's side of Murmur. Randomized response over the words of the menu and "none": of m + 1 possible answers the
true one has the probability e^eps / (e^eps + m), every other 1 / (e^eps + m).
"""

from collections.abc import Sequence
from math import exp
from random import Random

import numpy as np

from shoal.anonymizer.methods.murmur.menu import Menu
from shoal.corpus.searches import Device

NONE = ""  # "say nothing", which is always possible


def answer(menu: Menu, query: str, device: Device, epsilon: float | None, words: int) -> str:
    """What is said to a query; what was said to it before, where it was asked before."""
    asked = " ".join(query.lower().split())
    if asked not in device.said:
        options, best = choices(menu, device, words)
        device.said[asked] = best if epsilon is None else randomized(best, options, epsilon, device.random)
    return device.said[asked]


def choices(menu: Menu, device: Device, words: int) -> tuple[list[str], str]:
    """What may be said to this menu, and what is best: the largest own(w) * h(w), none where all are 0.

    Once so many different words were said, only those may be. The server knows that as well as the device does.
    """
    said = {word for word in device.said.values() if word != NONE}
    open_to = np.array([len(said) < words or word in said for word in menu.words], dtype=bool)
    own = np.asarray(device.own[:, menu.column].todense()).ravel()
    worth = np.where(open_to, own * menu.spread, 0.0)
    options = [word for word, may in zip(menu.words, open_to.tolist(), strict=True) if may]
    return [*options, NONE], menu.words[int(worth.argmax())] if len(menu) and worth.max() > 0 else NONE


def probability_of_truth(options: int, epsilon: float) -> float:
    """Of the best answer, among so many possible ones; each other one has e^-epsilon times that."""
    return exp(epsilon) / (exp(epsilon) + options - 1)


def randomized(best: str, options: Sequence[str], epsilon: float, random: Random) -> str:
    """The best answer, or one of the others, all alike."""
    others = [option for option in options if option != best]
    if not others or random.random() < probability_of_truth(len(options), epsilon):
        return best
    return random.choice(others)
