"""Which words of the documents would a person type? Content words, in the order of the text."""

from dataclasses import dataclass

import numpy as np
import polars as pl

from shoal.corpus.columns import distinct
from shoal.corpus.documents import Documents
from shoal.corpus.errors import InputError
from shoal.corpus.tokens import STOP_WORDS, tokenize_column

# A word in more than a fifth of the documents tells no interest; one in a single document no other user shares.
_COMMON = 0.2
_RARE = 2
# Users of a larger corpus read an even sample of it: that bounds the memory, and nobody reads more.
_READ = 50_000
_FEW = 20


@dataclass(frozen=True)
class Text:
    """The content words of the documents: document i holds word[start[i]:start[i + 1]] of the vocabulary."""

    vocabulary: pl.Series
    documents: np.ndarray  # int64: which document of the corpus each one is
    start: np.ndarray  # int64
    word: np.ndarray  # int32


def content_words(documents: Documents) -> Text:
    """The text without stop words, numbers, very short, very common and singular words."""
    chosen = np.unique(np.linspace(0, len(documents) - 1, min(len(documents), _READ)).astype(np.int64))
    title, text = (pl.Series(column).fill_null("").gather(chosen) for column in (documents.titles, documents.texts))
    tokens = tokenize_column(title + " " + text)
    owner = np.repeat(np.arange(len(chosen), dtype=np.int64), np.diff(tokens.start))
    vocabulary = pl.Series("word", tokens.vocabulary, dtype=pl.String)
    typed = _typed(vocabulary) & _telling(owner, tokens.ids, len(vocabulary), len(chosen))
    kept = typed[tokens.ids]
    if not kept.any():
        raise InputError("no content words in the documents; expected running text; give a larger corpus")
    number = np.cumsum(typed) - 1
    start = np.concatenate([[0], np.cumsum(np.bincount(owner[kept], minlength=len(chosen)))]).astype(np.int64)
    return Text(vocabulary.filter(pl.Series(typed)), chosen, start, number[tokens.ids[kept]].astype(np.int32))


def _typed(vocabulary: pl.Series) -> np.ndarray:
    """Words of letters only, three at least, that are no stop words."""
    letters = vocabulary.str.contains(r"^\p{L}{3,24}$")
    return (letters & ~vocabulary.is_in(sorted(STOP_WORDS))).to_numpy()


def _telling(owner: np.ndarray, word: np.ndarray, words: int, documents: int) -> np.ndarray:
    """Words in neither too few nor too many documents; in a corpus of a few documents every word counts."""
    pairs = distinct(owner * words + word)
    frequency = np.bincount(pairs % words, minlength=words)
    if documents < _FEW:
        return frequency > 0
    return (frequency >= _RARE) & (frequency <= max(_RARE, _COMMON * documents))
