"""What is known at one search? The server's side: query and candidates. The device's side: who asks, and by what luck.

A method chooses by both what re-ranks the search (`Method.choose`). All profiles here are rows over the word forms of
the documents, the columns of their vectors, so that what is chosen can rank at once.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from random import Random
from typing import Protocol

import numpy as np
from scipy.sparse import csr_array


class WordSpace(Protocol):
    """The space of the documents: a column per word form, a row per document. Wherever it lies, parts are asked for."""

    @property
    def width(self) -> int: ...

    def rows(self, documents: np.ndarray) -> csr_array:
        """The vectors of some documents."""

    def columns(self, words: Iterable[str]) -> Mapping[str, int]:
        """The column of each of these words that the documents hold, spelled as its form or not; maybe of others."""

    def names(self, columns: Sequence[int] | np.ndarray) -> list[str]:
        """The form of each column."""


@dataclass(frozen=True, eq=False)
class Search:
    """A query and its candidates, the engine's best first: what the server knows before anybody said anything."""

    query: str
    documents: np.ndarray  # rows of the space
    space: WordSpace

    @cached_property
    def candidates(self) -> csr_array:
        """The vectors of the candidates, read when a method first asks for them."""
        return csr_array(self.space.rows(self.documents))

    def row(self, weights: Mapping[str, float]) -> csr_array:
        """A profile of some words; those that no document holds are left out."""
        column = self.space.columns(weights)
        held = [word for word in weights if word in column]
        columns = np.array([column[word] for word in held], dtype=np.int64)
        values = np.array([weights[word] for word in held], dtype=float)
        row = csr_array((values, columns, [0, len(held)]), shape=(1, self.space.width))
        row.sum_duplicates()
        return row


@dataclass(frozen=True, eq=False)
class Device:
    """Who searches, as nobody but the person's own device knows it.

    It lives as long as its pseudonym does: in `said` a method remembers from search to search. An evaluation seeds the
    random numbers, so that it can be run again; in service they are the platform's (`secrets.SystemRandom`).
    """

    own: csr_array  # the original profile; empty where nobody knows it
    published: csr_array  # what the release publishes of the person; empty where that is nothing
    random: Random
    said: dict[str, str] = field(default_factory=dict)  # what was answered to each query


# What re-ranks a search, once its candidates are known.
Chooser = Callable[[Search], csr_array]


@dataclass(frozen=True)
class Blend:
    """What each part of a score weighs: the profile, everyone's average, and with the rest the engine's order."""

    profile: float
    everyone: float = 0.0

    @property
    def engine(self) -> float:
        return 1 - self.profile - self.everyone

    def with_profile(self, weight: float) -> "Blend":
        """With another weight of the profile: the average falls with it, to nothing but the engine or the profile."""
        if weight <= self.profile:
            return Blend(weight, self.everyone * weight / self.profile if self.profile > 0 else self.everyone)
        return Blend(weight, self.everyone * (1 - weight) / (1 - self.profile))

    def without_profile(self) -> "Blend":
        """What the others weigh where there is no profile."""
        rest = 1 - self.profile
        return Blend(0.0, self.everyone / rest if rest > 0 else 0.0)
