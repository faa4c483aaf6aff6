"""Which word forms stand where in the documents? What both engines index and the vectors count."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl
import scipy.sparse as sp

from shoal.corpus.progress import Progress, silent
from shoal.corpus.tokens import tokenize_column
from shoal.search.lexicon import Lemmas, Lexicon, make_lexicon

BLOCK = 2_000
# Longer runs of letters are encoded data, not words; no engine indexes them.
LONGEST_WORD = 64


@dataclass(frozen=True)
class Occurrences:
    """The forms of one field in reading order: document i holds ids[start[i]:start[i + 1]]."""

    start: np.ndarray  # int64
    ids: np.ndarray  # int32, form ids
    positions: np.ndarray  # int32, within the document

    @property
    def lengths(self) -> np.ndarray:
        return np.diff(self.start).astype(np.int32)

    def words(self, forms: np.ndarray, i: int) -> str:
        """The forms of one document, joined by spaces."""
        return " ".join(forms[self.ids[self.start[i] : self.start[i + 1]]])

    def documents(self) -> np.ndarray:
        """The document of each occurrence."""
        return np.repeat(np.arange(len(self.start) - 1, dtype=np.int32), np.diff(self.start))


@dataclass(frozen=True)
class Analysis:
    """The words of a corpus, and where they stand in each field."""

    lexicon: Lexicon
    title: Occurrences
    text: Occurrences

    def __len__(self) -> int:
        return len(self.title.start) - 1

    def combined(self) -> Occurrences:
        """Title and text as one field, with a gap between them that no phrase crosses."""
        start = self.title.start + self.text.start
        total = int(start[-1])
        ids, positions = np.empty(total, dtype=np.int32), np.empty(total, dtype=np.int32)
        in_title = self.title.positions + start[self.title.documents()]
        after = self.title.lengths[self.text.documents()]
        in_text = self.text.positions + after + start[self.text.documents()]
        ids[in_title], ids[in_text] = self.title.ids, self.text.ids
        positions[in_title], positions[in_text] = self.title.positions, self.text.positions + after + 1
        return Occurrences(start, ids, positions)


class _Vocabulary:
    """Numbers words in the order they are met, and counts the documents that hold them."""

    def __init__(self) -> None:
        self.numbers: dict[str, int] = {}

    def renumber(self, words: list[str]) -> np.ndarray:
        numbers = self.numbers
        found = (numbers.setdefault(w, len(numbers)) if len(w) <= LONGEST_WORD else -1 for w in words)
        return np.fromiter(found, dtype=np.int32, count=len(words))


def analyse(titles: Sequence[str], texts: Sequence[str], lemmas: Lemmas, progress: Progress = silent) -> Analysis:
    """Read all documents block by block, then give every word its form."""
    vocabulary = _Vocabulary()
    total = 2 * len(titles)
    title = _read(titles, vocabulary, lambda done: progress(done, total, "reading"))
    text = _read(texts, vocabulary, lambda done: progress(len(titles) + done, total, "reading"))
    met = list(vocabulary.numbers)
    order = sorted(range(len(met)), key=met.__getitem__)
    lexicon = make_lexicon([met[i] for i in order], _frequency(title, text, len(met))[order], lemmas)
    form_of_met = np.empty(len(met), dtype=np.int32)
    form_of_met[order] = lexicon.form_of
    return Analysis(lexicon, _as_forms(title, form_of_met), _as_forms(text, form_of_met))


def _read(column: Sequence[str], vocabulary: _Vocabulary, step: Callable[[int], None]) -> Occurrences:
    counts, ids = [np.zeros(1, dtype=np.int64)], [np.zeros(0, dtype=np.int32)]
    for begin in range(0, len(column), BLOCK):
        step(begin)
        tokens = tokenize_column(pl.Series(column[begin : begin + BLOCK], dtype=pl.String))
        block = vocabulary.renumber(tokens.vocabulary)[tokens.ids]
        document = np.repeat(np.arange(len(tokens)), np.diff(tokens.start))[block >= 0]
        counts.append(np.bincount(document, minlength=len(tokens)))
        ids.append(block[block >= 0])
    step(len(column))
    start = np.cumsum(np.concatenate(counts))
    flat = np.concatenate(ids)
    return Occurrences(start, flat, _positions(start))


def _positions(start: np.ndarray) -> np.ndarray:
    return (np.arange(start[-1]) - np.repeat(start[:-1], np.diff(start))).astype(np.int32)


def _as_forms(words: Occurrences, form_of: np.ndarray) -> Occurrences:
    return Occurrences(words.start, form_of[words.ids], words.positions)


def _frequency(title: Occurrences, text: Occurrences, words: int) -> np.ndarray:
    """The number of documents that hold each word, in its title or its text."""
    documents = len(title.start) - 1
    shape = (words, max(documents, 1))
    rows = np.concatenate([title.ids, text.ids])
    columns = np.concatenate([title.documents(), text.documents()])
    held = sp.csr_matrix((np.ones(len(rows), dtype=np.int32), (rows, columns)), shape=shape)
    held.sum_duplicates()
    return np.diff(held.indptr).astype(np.int32)
