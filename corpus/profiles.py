"""What is a profile? How often each user used each term: one sparse matrix, users x terms, and its vocabulary."""

from collections.abc import Callable, MutableMapping
from dataclasses import dataclass, replace
from functools import cached_property, update_wrapper
from typing import TYPE_CHECKING, TypeVar
from weakref import WeakKeyDictionary

import numpy as np
import polars as pl
from scipy.sparse import csr_array

from shoal.corpus.querylog import QueryLog
from shoal.corpus.tokens import Tokens

if TYPE_CHECKING:
    from shoal.corpus.knowledge.taxonomy import Dictionary

T = TypeVar("T")
_DICTIONARIES = 3  # of one log, those by which something is kept


@dataclass(frozen=True, eq=False)
class Profiles:
    """Users x terms. Row u belongs to users[u]; entry (u, t) is b_u(t), how often u used term t."""

    users: pl.Series
    terms: list[str]  # sorted
    counts: csr_array

    def __len__(self) -> int:
        return len(self.users)

    @cached_property
    def size(self) -> np.ndarray:
        """||u||: the number of distinct terms of each user."""
        return np.diff(self.counts.indptr)

    @cached_property
    def occurrences(self) -> np.ndarray:
        """|u|: the number of term occurrences of each user."""
        return np.asarray(self.counts.sum(axis=1)).ravel()

    def of(self, user: int) -> dict[str, int]:
        row = slice(self.counts.indptr[user], self.counts.indptr[user + 1])
        return {self.terms[t]: int(n) for t, n in zip(self.counts.indices[row], self.counts.data[row], strict=True)}

    def select(self, rows: np.ndarray) -> "Profiles":
        return replace(self, users=self.users.gather(rows), counts=self.counts[rows])


def _kept(make: Callable[[QueryLog, "Dictionary"], T]) -> Callable[[QueryLog, "Dictionary"], T]:
    """While a log is there, what was made of it by the last few dictionaries is, too; nobody may change it.

    Methods, attacks and measures of one log ask for the same again and again.
    """
    made: MutableMapping[QueryLog, dict[Dictionary, T]] = WeakKeyDictionary()

    def once(log: QueryLog, words: "Dictionary") -> T:
        of_log = made.setdefault(log, {})
        kept = of_log.pop(words, None)
        of_log[words] = found = make(log, words) if kept is None else kept  # as the last that was asked for
        for oldest in list(of_log)[:-_DICTIONARIES]:
            of_log.pop(oldest, None)
        return found

    return update_wrapper(once, make)


@_kept
def build_profiles(log: QueryLog, words: "Dictionary") -> Profiles:
    """The profile of every user of the log (an empty row where the dictionary knows nothing they typed)."""
    terms, query_terms = query_term_counts(log, words)
    user_queries = csr_array(
        (np.ones(len(log), dtype=np.int32), log.query, log.start), shape=(len(log.users), len(log.queries))
    )
    counts = csr_array(user_queries @ query_terms)
    counts.sort_indices()
    used = np.flatnonzero(np.bincount(counts.indices, minlength=len(terms)))
    if len(used) < len(terms):  # a part of a log need not use all the terms of the whole
        counts = _only_columns(counts, used)
        terms = [terms[t] for t in used]
    return Profiles(log.users, terms, counts)


def query_term_counts(log: QueryLog, words: "Dictionary") -> tuple[list[str], csr_array]:
    """How often each distinct query of the log holds each term: the vocabulary and a queries x terms matrix."""
    return _counts(log.tokens, *_terms_of_log(log, words))


def term_counts(tokens: Tokens, words: "Dictionary") -> tuple[list[str], csr_array]:
    """How often each string holds each term: the vocabulary and a strings x terms matrix."""
    return _counts(tokens, *_terms(tokens, words))


@_kept
def _terms_of_log(log: QueryLog, words: "Dictionary") -> tuple[list[str], np.ndarray]:
    return _terms(log.tokens, words)


def _terms(tokens: Tokens, words: "Dictionary") -> tuple[list[str], np.ndarray]:
    """The terms that tokens are, sorted, and which of them each token is, or -1."""
    spelled = [words(token) for token in tokens.vocabulary]
    terms = sorted({term for term in spelled if term is not None})
    number = {term: i for i, term in enumerate(terms)}
    return terms, np.array([-1 if term is None else number[term] for term in spelled], dtype=np.int32)


def _counts(tokens: Tokens, terms: list[str], term_of: np.ndarray) -> tuple[list[str], csr_array]:
    ids = term_of[tokens.ids] if len(terms) else np.full(len(tokens.ids), -1, dtype=np.int32)
    kept = ids >= 0
    start = np.concatenate([[0], np.cumsum(kept)])[tokens.start]
    matrix = csr_array((np.ones(int(kept.sum()), dtype=np.int32), ids[kept], start), shape=(len(tokens), len(terms)))
    matrix.sum_duplicates()
    return terms, matrix


def _only_columns(matrix: csr_array, columns: np.ndarray) -> csr_array:
    """These columns of a matrix that has entries in no others."""
    new = np.zeros(matrix.shape[1], dtype=matrix.indices.dtype)
    new[columns] = np.arange(len(columns))
    return csr_array((matrix.data, new[matrix.indices], matrix.indptr), shape=(matrix.shape[0], len(columns)))
