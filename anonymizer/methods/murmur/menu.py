"""Which words does the server offer? Those of the catalogue that tell a search's candidates apart and are often typed.

The server's side of Murmur: nothing here knows who asks.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array

from shoal.anonymizer.base import Catalogue


@dataclass(frozen=True, eq=False)
class Columns:
    """The catalogue over the word forms of the documents; of several terms of one form the most typed names it."""

    column: np.ndarray  # ascending
    mean: np.ndarray  # avg(w): everyone's mean, of all of its terms
    word: list[str]


@dataclass(frozen=True, eq=False)
class Menu:
    """The words that are offered, the most telling first, and h of each."""

    words: list[str]
    column: np.ndarray
    spread: np.ndarray  # h(w): the standard deviation of w's weight among the candidates

    def __len__(self) -> int:
        return len(self.words)


def columns_of(catalogue: Catalogue, column: Mapping[str, int]) -> Columns:
    """Terms that no document holds are left out."""
    held = [number for number, term in enumerate(catalogue.terms) if term in column]
    held.sort(key=lambda number: (column[catalogue.terms[number]], -catalogue.mean[number]))
    places = np.array([column[catalogue.terms[number]] for number in held], dtype=np.int64)
    found, first, row = np.unique(places, return_index=True, return_inverse=True)
    mean = np.bincount(row, catalogue.mean[held], minlength=len(found)) if len(held) else np.empty(0)
    return Columns(found, mean, [catalogue.terms[held[number]] for number in first.tolist()])


def make_menu(candidates: csr_array, columns: Columns, size: int) -> Menu:
    """The `size` words with the largest h(w) * avg(w), those of which this is 0 left out; the first of equals first."""
    spread = spreads(candidates)[columns.column]
    worth = spread * columns.mean
    best = np.lexsort((columns.column, -worth))[:size]
    best = best[worth[best] > 0]
    return Menu([columns.word[number] for number in best.tolist()], columns.column[best], spread[best])


def spreads(candidates: csr_array) -> np.ndarray:
    """The standard deviation of the weight of each word form among the candidates."""
    many, width = max(1, candidates.shape[0]), candidates.shape[1]
    weight = candidates.data.astype(float)
    mean = np.bincount(candidates.indices, weight, minlength=width) / many
    square = np.bincount(candidates.indices, weight**2, minlength=width) / many
    return np.asarray(np.sqrt(np.maximum(square - mean**2, 0)))
