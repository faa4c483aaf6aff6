"""What did each user type? The queries of a log as strings that published ones are compared with, in columns."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import polars as pl
from scipy.sparse import csr_array

from shoal.corpus.querylog import QueryLog


@dataclass(frozen=True, eq=False)
class TypedQueries:
    """The distinct queries of a log in lower case and with single blanks, and how often each user typed each."""

    texts: pl.Series
    source: np.ndarray  # a query of the log that reads so
    times: csr_array  # users of the log x texts

    @cached_property
    def users(self) -> np.ndarray:
        """How many users typed each text; the empty string is no query."""
        users = np.bincount(self.times.indices, minlength=len(self.texts))
        return np.where((self.texts == "").to_numpy(), 0, users)

    def numbers(self, queries: pl.Series) -> np.ndarray:
        """The place of each string among the texts, -1 where nobody typed it."""
        places = np.arange(len(self.texts), dtype=np.int64)
        found = queries.replace_strict(self.texts, places, default=-1, return_dtype=pl.Int64)
        return found.to_numpy().astype(np.int64)


def typed_queries(log: QueryLog) -> TypedQueries:
    number: dict[str, int] = {}
    of_query = np.empty(len(log.queries), dtype=np.int32)
    for q, query in enumerate(log.queries.to_list()):
        of_query[q] = number.setdefault(" ".join(query.lower().split()), len(number))
    source = np.empty(len(number), dtype=np.int64)
    source[of_query] = np.arange(len(of_query))
    shape = (len(log.users), len(number))
    times = csr_array((np.ones(len(log), dtype=np.int64), of_query[log.query], log.start.copy()), shape=shape)
    times.sum_duplicates()
    return TypedQueries(pl.Series(list(number), dtype=pl.String), source, times)
