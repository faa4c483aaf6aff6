"""How much of a person's own ranking does a published profile keep? The protocol of Zhu & Xiong, for every method."""

from dataclasses import dataclass, replace

import numpy as np
import polars as pl
from scipy.sparse import csr_array

from shoal.anonymizer.base import Assignment, Release, profiles_of
from shoal.corpus.knowledge import Knowledge
from shoal.corpus.profiles import Profiles
from shoal.corpus.progress import Progress, silent
from shoal.corpus.querylog import QueryLog
from shoal.search.index import Index
from shoal.search.personal import CANDIDATES
from shoal.search.rerank import best_first, many_cosines
from shoal.search.vectors import profile_space

FEWEST_CANDIDATES = 60
RELEVANT = 30


@dataclass(frozen=True, eq=False)
class TestQueries:
    """The test queries that have enough candidates: who asks each, and its candidates, the engine's best first."""

    __test__ = False  # the name is not a test's

    user: np.ndarray  # int32
    query: np.ndarray  # int32: positions in the test log's queries
    documents: np.ndarray  # queries x 100, padded with -1
    left_out: int  # queries with fewer than 60 candidates

    def __len__(self) -> int:
        return len(self.user)

    def of_people_with(self, profiles: Profiles) -> "TestQueries":
        """The queries of those who have a profile: for others there is nothing personal to keep."""
        personal = profiles.size[self.user] > 0
        return replace(self, user=self.user[personal], query=self.query[personal], documents=self.documents[personal])


def choose_queries(
    test: QueryLog, index: Index, per_user: int, seed: int = 0, progress: Progress = silent
) -> TestQueries:
    """Up to `per_user` test queries of each user, drawn without replacement from that user's distinct ones."""
    pairs = np.unique(np.stack([test.user, test.query]), axis=1)
    order = np.random.default_rng(seed).permutation(pairs.shape[1])
    order = order[np.argsort(pairs[0, order], kind="stable")]
    user, query = pairs[:, order]
    place = np.arange(len(user)) - np.searchsorted(user, user)
    user, query = user[place < per_user], query[place < per_user]
    table, found = _candidates(test, np.unique(query), index, progress)
    row = np.searchsorted(np.unique(query), query)
    enough = found[row] >= FEWEST_CANDIDATES
    return TestQueries(
        user[enough].astype(np.int32), query[enough].astype(np.int32), table[row[enough]], int((~enough).sum())
    )


def _candidates(test: QueryLog, queries: np.ndarray, index: Index, progress: Progress) -> tuple[np.ndarray, np.ndarray]:
    """The candidates of each distinct query, and how many it has. A query the engine refuses has none."""
    table = np.full((len(queries), CANDIDATES), -1, dtype=np.int64)
    found = np.zeros(len(queries), dtype=np.int64)
    for row, text in enumerate(test.queries.gather(queries).to_list()):
        documents = index.engine.candidates(text, CANDIDATES).documents
        found[row] = len(documents)
        table[row, : len(documents)] = documents
        progress(row + 1, len(queries), "finding candidates")
    return table, found


def gold(queries: TestQueries, profiles: Profiles, index: Index, known: Knowledge) -> np.ndarray:
    """Which cells of `queries.documents` are relevant: the first 30 by cosine with the user's own profile."""
    space = profile_space(profiles.terms, [False] * len(profiles.terms), index.vectors, Knowledge())
    own = csr_array(profiles.counts @ space)
    cosine = many_cosines(queries.documents, queries.user, own, index.vectors)
    return first_by_own(cosine, queries.documents)


def first_by_own(cosine: np.ndarray, documents: np.ndarray) -> np.ndarray:
    """The first 30 of each row of candidates (padded with -1), by their cosine with the own profile of who asks."""
    return (np.argsort(best_first(cosine), axis=1) < RELEVANT) & (documents >= 0)


def published_cosines(
    queries: TestQueries, release: Release, assignment: Assignment, users: pl.Series, index: Index, known: Knowledge
) -> np.ndarray:
    """The cosine of every candidate with the published profile of the user who asks.

    It is 0 for a user without a profile, whose ranking is then the engine's: that user is served, but not as a person.
    """
    rows, row_of = profiles_of(users, release, assignment)
    space = profile_space(release.labels, release.generalized.tolist(), index.vectors, known)
    return many_cosines(queries.documents, row_of[queries.user], csr_array(rows @ space), index.vectors)
