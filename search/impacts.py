"""What does a word count for in a document, whatever is asked? Its impact: the part of BM25 that no query changes.

BM25 is idf (k1 + 1) tf / (tf + norm), where norm follows from the document's length. By impact = tf / norm it is
idf (k1 + 1) impact / (impact + 1). Lucene keeps the length in a byte. Told the impact as the frequency of the word, and
to look at no length, it scores by the exact one, and still skips documents that cannot be among the first.
"""

from collections.abc import Iterator

import numpy as np
import scipy.sparse as sp

from shoal.search.analysis import Analysis, Occurrences
from shoal.search.engines.base import K1, B, norms
from shoal.search.query import ALL, TEXT, TITLE

FINEST = 2**20  # whole numbers between an impact of 0 and of 1
_MOST_OF_A_DOCUMENT = 2**30  # Lucene adds up the frequencies of a document in 31 bits
SEPARATOR = "|"  # in no word
_NO_WORD = f"#{SEPARATOR}1"  # a document without words counts in idf as the others do


def scale_for(mean_length: float) -> int:
    """How many whole numbers an impact of 1 is: a power of two, with which no document is above what Lucene adds up."""
    # The impacts of a document sum to length / norm, which is below mean / (k1 b) however long it is.
    fits = _MOST_OF_A_DOCUMENT * K1 * B / max(mean_length, 1)
    return min(FINEST, 1 << max(0, int(fits).bit_length() - 1))


def impacts(analysis: Analysis, mean_lengths: dict[str, float], scale: int) -> dict[str, Iterator[str]]:
    """By field, for each document its words with their impacts, as text that Lucene's filter of frequencies reads."""
    title, text = _counts(analysis.title, analysis), _counts(analysis.text, analysis)
    counts = {ALL: title + text, TITLE: title, TEXT: text}
    forms = np.array(analysis.lexicon.forms, dtype=object)
    return {field: _written(counts[field], forms, mean_lengths[field], scale) for field in counts}


def _counts(column: Occurrences, analysis: Analysis) -> sp.csr_matrix:
    ones, shape = np.ones(len(column.ids), dtype=np.int64), (len(analysis), len(analysis.lexicon.forms))
    counts = sp.csr_matrix((ones, column.ids, column.start), shape=shape, copy=True)
    counts.sum_duplicates()  # in place, where the reading order would be lost
    return counts


def _written(counts: sp.csr_matrix, forms: np.ndarray, mean_length: float, scale: int) -> Iterator[str]:
    lengths = np.asarray(counts.sum(axis=1)).ravel()
    norm = np.repeat(norms(lengths, mean_length), np.diff(counts.indptr))
    scaled = np.maximum(np.rint(scale * counts.data / norm), 1).astype(np.int64)
    pairs = zip(forms[counts.indices].tolist(), scaled.tolist(), strict=True)
    words = [f"{form}{SEPARATOR}{impact}" for form, impact in pairs]
    for begin, end in zip(counts.indptr[:-1], counts.indptr[1:], strict=True):
        yield " ".join(words[begin:end]) or _NO_WORD
