"""Which words does the server offer, and how does it rank by the one it hears? Words that tell candidates apart and are
often typed, each with the first page that it brings.

The server's side of Murmur: nothing here knows who asks.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array

from shoal.anonymizer.base import Catalogue
from shoal.corpus.searches import Search

NONE = ""  # "say nothing", which is always possible
PAGE = 10  # candidates that a word is judged by
WORD = 0.85  # what a word weighs on that page, the rest is the engine's order: about what releases learn


@dataclass(frozen=True, eq=False)
class Columns:
    """The catalogue over the word forms of the documents; of several terms of one form the most typed names it."""

    column: np.ndarray  # ascending
    mean: np.ndarray  # avg(w): everyone's mean, of all of its terms
    word: list[str]


@dataclass(frozen=True, eq=False)
class Menu:
    """The words that are offered, the most telling first, and the first page of each: places of candidates."""

    words: list[str]
    pages: np.ndarray  # words x 10, or fewer where there are fewer candidates
    candidates: csr_array  # the vectors of the candidates, the engine's best first

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
    forms, held = held_forms(candidates)
    worth = np.zeros(candidates.shape[1])
    worth[forms] = spreads(held)
    worth = worth[columns.column] * columns.mean
    best = np.lexsort((columns.column, -worth))[:size]
    best = best[worth[best] > 0]
    words = [columns.word[number] for number in best.tolist()]
    return Menu(words, first_pages(held, np.searchsorted(forms, columns.column[best])), candidates)


def held_forms(candidates: csr_array) -> tuple[np.ndarray, csr_array]:
    """The word forms that any candidate holds, ascending, and the candidates over these alone.

    They are one in ten of all forms, and to go through the others takes longer than all that is asked of them.
    """
    is_held = np.zeros(candidates.shape[1], dtype=bool)
    is_held[candidates.indices] = True
    forms = np.flatnonzero(is_held)
    number = np.empty(candidates.shape[1], dtype=candidates.indices.dtype)
    number[forms] = np.arange(len(forms))
    shape = (candidates.shape[0], len(forms))
    return forms, csr_array((candidates.data, number[candidates.indices], candidates.indptr), shape=shape)


def spreads(candidates: csr_array) -> np.ndarray:
    """h: the standard deviation of the weight of each word form among the candidates."""
    many, width = max(1, candidates.shape[0]), candidates.shape[1]
    weight = candidates.data.astype(float)
    mean = np.bincount(candidates.indices, weight, minlength=width) / many
    square = np.bincount(candidates.indices, weight**2, minlength=width) / many
    return np.asarray(np.sqrt(np.maximum(square - mean**2, 0)))


def heard(search: Search, said: str) -> csr_array:
    """What ranks by what was said: half the word, half the candidates that hold it; empty where that was "none".

    Both halves are scaled to 1 at their best candidate. By the word alone, all candidates without it would be alike.
    """
    word = search.row({} if said == NONE else {said: 1.0})
    weight = products(search.candidates, word)
    if not weight.any():
        return word
    holding = csr_array(csr_array((weight > 0)[None].astype(float)) @ search.candidates)
    return csr_array(word / (2 * weight.max()) + holding / (2 * products(search.candidates, holding).max()))


def products(candidates: csr_array, row: csr_array) -> np.ndarray:
    """Of each candidate with a profile, which is laid out in full: both of them sparse take ten times as long."""
    return np.asarray(candidates @ row.toarray().ravel(), dtype=float)


def first_pages(candidates: csr_array, columns: np.ndarray) -> np.ndarray:
    """Words x 10: the candidates that stand first by the row of each word beside the engine's order."""
    by_form = candidates.T.toarray(order="C")
    weight = by_form[columns].T.astype(float)
    holding = (candidates @ by_form).astype(float) @ (weight > 0)
    scores = _scaled(_scaled(weight) + _scaled(holding))
    engine = 1 - np.arange(len(scores)) / max(1, len(scores))
    order = np.argsort(-(WORD * scores + (1 - WORD) * engine[:, None]), axis=0, kind="stable")
    return np.ascontiguousarray(order[:PAGE].T)


def _scaled(scores: np.ndarray) -> np.ndarray:
    """Of each column as a share of its best."""
    best = scores.max(axis=0, initial=0.0)
    return np.divide(scores, best, out=np.zeros(scores.shape), where=best > 0)
