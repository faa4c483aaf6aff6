"""Which queries were asked, how often and by whom? Distinct normalised queries, and the users of each."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import polars as pl
from scipy.sparse import csr_array

from shoal.corpus.querylog import QueryLog
from shoal.corpus.tokens import Tokens, number_strings, tokenize_column

# Rust's \s lacks the four separators that Python's str.split knows.
_BLANKS = r"[\s\x1c-\x1f]+"


@dataclass(frozen=True, eq=False)
class DistinctQueries:
    """The queries of a log as strings: in lower case, with single blanks, as AOL's came. Nothing else is touched.

    Two queries are the same if these strings are; what is published is this string, not one user's spelling of it.
    """

    texts: pl.Series
    source: np.ndarray  # int64: a query of the log that reads so
    asked: csr_array  # users x texts: how often each user asked each
    tokens: Tokens

    def __len__(self) -> int:
        return len(self.texts)

    @cached_property
    def words(self) -> Tokens:
        """What stands between blanks in each query: jane.doe@aol.com is one word, though it is cut into four terms."""
        return number_strings(self.texts.str.split(" "))

    @cached_property
    def users(self) -> np.ndarray:
        """The number of distinct users of each query; none for the empty string, which is no query."""
        users = np.bincount(self.asked.indices, minlength=len(self))
        users[(self.texts == "").to_numpy()] = 0
        return users

    @cached_property
    def occurrences(self) -> np.ndarray:
        """How often each query was asked, by whomever."""
        return np.bincount(self.asked.indices, weights=self.asked.data, minlength=len(self)).astype(np.int64)

    @cached_property
    def askers(self) -> csr_array:
        """Texts x users, 1 where the user asked it; the users of each text ascend."""
        ones = np.ones(len(self.asked.indices), dtype=np.int8)
        return csr_array(csr_array((ones, self.asked.indices, self.asked.indptr), shape=self.asked.shape).T.tocsr())


def distinct_queries(log: QueryLog) -> DistinctQueries:
    """The normalised queries of a log, in the order of first appearance."""
    normal = log.queries.cast(pl.String).str.to_lowercase().str.replace_all(_BLANKS, " ").str.strip_chars(" ")
    texts = normal.unique(maintain_order=True)
    if len(texts) == len(normal):
        code = source = np.arange(len(texts), dtype=np.int64)
    else:
        numbers = np.arange(len(texts), dtype=np.int64)
        code = normal.replace_strict(texts, numbers, return_dtype=pl.Int64).to_numpy()
        source = np.empty(len(texts), dtype=np.int64)
        source[code] = np.arange(len(code))
    asked = csr_array(
        (np.ones(len(log), dtype=np.int32), code[log.query].astype(np.int32), log.start.copy()),
        shape=(len(log.users), len(texts)),
    )
    asked.sum_duplicates()
    same = len(texts) == len(normal) and (texts == log.queries).all()
    return DistinctQueries(texts, source, asked, log.tokens if same else tokenize_column(texts))


def only_columns(counts: csr_array, keep: np.ndarray) -> csr_array:
    """The matrix without the entries of the other columns; its shape stays."""
    mask = keep[counts.indices]
    start = np.concatenate([[0], np.cumsum(mask)])[counts.indptr]
    return csr_array((counts.data[mask], counts.indices[mask], start), shape=counts.shape)
