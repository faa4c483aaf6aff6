"""Which categories of a directory does a term find? BM25 over the titles and descriptions of its entries."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import polars as pl
from scipy.sparse import csc_array, csr_array

from shoal.corpus.knowledge.dictionary import Dictionary
from shoal.corpus.knowledge.directory import CategoryPath
from shoal.corpus.tokens import tokenize_column

K1, B = 1.2, 0.75  # the usual constants of BM25


@dataclass(frozen=True, eq=False)
class SearchedDirectory:
    """Categories x terms: how well the entries of a category match a term, all its entries together.

    The ODP showed the categories with the most matching entries first; the sum of their scores does so too.
    """

    paths: list[CategoryPath]  # sorted
    terms: list[str]
    scores: csc_array

    @cached_property
    def _number(self) -> dict[str, int]:
        return {term: i for i, term in enumerate(self.terms)}

    def categories(self, term: str) -> list[CategoryPath]:
        """The categories with an entry that holds the term, the best first; equal ones in the order of their names."""
        column = self._number.get(term)
        if column is None:
            return []
        part = slice(self.scores.indptr[column], self.scores.indptr[column + 1])
        found, score = self.scores.indices[part], self.scores.data[part]
        return [self.paths[c] for c in found[np.lexsort((found, -score))]]


def search_in(entries: pl.DataFrame, words: Dictionary) -> SearchedDirectory:
    """A directory over entries (columns path, title, description); its texts are read as queries are."""
    terms, counts = _term_counts(entries["title"] + " " + entries["description"], words)
    names = entries["path"].unique().sort()
    codes = entries["path"].replace_strict(names, np.arange(len(names)), return_dtype=pl.Int64).to_numpy()
    scores = bm25(counts)
    holds = csr_array((np.ones(len(codes)), (codes, np.arange(len(codes)))), shape=(len(names), len(codes)))
    by_term = csc_array(holds @ scores)
    by_term.sort_indices()
    return SearchedDirectory([tuple(path.split("/")) for path in names.to_list()], terms, by_term)


def bm25(counts: csr_array) -> csr_array:
    """The score of every term in every text: idf * tf (K1 + 1) / (tf + K1 (1 - B + B length / mean length))."""
    texts = counts.shape[0]
    having = np.bincount(counts.indices, minlength=counts.shape[1])
    idf = np.log1p((texts - having + 0.5) / (having + 0.5))
    length = np.asarray(counts.sum(axis=1), dtype=float).ravel()
    fullness = K1 * (1 - B + B * length / max(length.mean(), 1e-12))
    tf = counts.data.astype(float)
    row = np.repeat(np.arange(texts), np.diff(counts.indptr))
    data = idf[counts.indices] * tf * (K1 + 1) / (tf + fullness[row])
    return csr_array((data, counts.indices, counts.indptr), shape=counts.shape)


def _term_counts(texts: pl.Series, words: Dictionary) -> tuple[list[str], csr_array]:
    """Texts x terms. Words that are no term can never be asked for and are left out."""
    tokens = tokenize_column(texts)
    spelled = [words(token) for token in tokens.vocabulary]
    terms = sorted({term for term in spelled if term is not None})
    number = {term: i for i, term in enumerate(terms)}
    term_of = np.array([-1 if term is None else number[term] for term in spelled], dtype=np.int64)
    row = np.repeat(np.arange(len(tokens)), np.diff(tokens.start))
    column = term_of[tokens.ids] if len(tokens.ids) else np.empty(0, dtype=np.int64)
    kept = column >= 0
    ones = np.ones(int(kept.sum()), dtype=np.int32)
    return terms, csr_array((ones, (row[kept], column[kept])), shape=(len(tokens), len(terms)))
