"""How much of a person's own ranking does a published profile keep? The protocol of Zhu & Xiong, for every method."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from random import Random

import numpy as np
import polars as pl
from scipy.sparse import csr_array, vstack

from shoal.anonymizer.base import Assignment, Method, Release, profiles_of
from shoal.corpus.profiles import Profiles
from shoal.corpus.progress import Progress, silent
from shoal.corpus.querylog import QueryLog
from shoal.corpus.searches import Device
from shoal.evaluation.protocol.many_rankings import CandidateVectors, candidate_vectors, many_cosines
from shoal.search.index import Index
from shoal.search.personal import CANDIDATES
from shoal.search.rerank import best_first
from shoal.search.vectors import profile_space

FEWEST_CANDIDATES = 60
AT_ONCE = 5_000  # searches whose chosen profiles are held: those of a word are of all words beside it
RELEVANT = 30


@dataclass(frozen=True, eq=False)
class TestQueries:
    """The test queries that have enough candidates: who asks each, and its candidates, the engine's best first."""

    __test__ = False  # the name is not a test's

    user: np.ndarray  # int32
    query: np.ndarray  # int32: positions in `texts`
    documents: np.ndarray  # queries x 100, padded with -1
    left_out: int  # queries with fewer than 60 candidates
    texts: pl.Series  # what may be asked

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
    left_out = int((~enough).sum())
    user, query = user[enough].astype(np.int32), query[enough].astype(np.int32)
    return TestQueries(user, query, table[row[enough]], left_out, test.queries)


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


def gold(queries: TestQueries, own: csr_array, index: Index) -> np.ndarray:
    """Which cells of `queries.documents` are relevant: the first 30 by cosine with the user's own profile."""
    cosine = many_cosines(candidate_vectors(queries.documents, index.vectors), queries.user, own)
    return first_by_own(cosine, queries.documents)


def first_by_own(cosine: np.ndarray, documents: np.ndarray) -> np.ndarray:
    """The first 30 of each row of candidates (padded with -1), by their cosine with the own profile of who asks."""
    return (np.argsort(best_first(cosine), axis=1) < RELEVANT) & (documents >= 0)


@dataclass(frozen=True, eq=False)
class Trial:
    """What every release is tried by: queries of users, whose own profiles are of the part before the queries."""

    queries: TestQueries
    users: pl.Series
    own: csr_array  # users x word forms
    index: Index

    def cosines(
        self,
        method: Method,
        release: Release,
        assignment: Assignment,
        seed: int = 0,
        devices: Mapping[int, Device] | None = None,
    ) -> np.ndarray:
        """The cosine of every candidate with what the method chooses for who asks, at that search.

        It is 0 where nothing is chosen, and the ranking is then the engine's: that user is served, but not as a person.
        Devices that are given remember afterwards what they said.
        """
        if _ranks_by_what_is_published(method):
            published, row_of = self._published(method, release, assignment)
            return many_cosines(self.candidates, row_of[self.queries.user], published)
        asking = self.devices(method, release, assignment, seed) if devices is None else devices
        found = [np.empty((0, self.queries.documents.shape[1]))]
        for first in range(0, len(self.queries), AT_ONCE):
            here = slice(first, first + AT_ONCE)
            chosen, row_of = self._chosen(method, release, asking, here)
            found.append(many_cosines(replace(self.candidates, place=self.candidates.place[here]), row_of, chosen))
        return np.concatenate(found)

    @cached_property
    def candidates(self) -> CandidateVectors:
        """The same whatever is released, as the own profiles are."""
        return candidate_vectors(self.queries.documents, self.index.vectors)

    def _chosen(
        self, method: Method, release: Release, devices: Mapping[int, Device], here: slice
    ) -> tuple[csr_array, np.ndarray]:
        """The different profiles that are chosen, and which of them at each search. Searches follow one another."""
        asking, texts = self.queries.user[here].tolist(), self.queries.texts.gather(self.queries.query[here]).to_list()
        rows: dict[int, csr_array] = {}
        place: dict[int, int] = {}
        row_of = np.zeros(len(asking), dtype=np.int64)
        for i, (user, text, documents) in enumerate(zip(asking, texts, self.queries.documents[here], strict=True)):
            search = self.index.vectors.search(text, documents[documents >= 0])
            row = method.choose(search, devices[user], release)
            rows[id(row)] = row  # held, so that no other gets its number
            row_of[i] = place.setdefault(id(row), len(place))
        return csr_array(vstack([*rows.values()], format="csr")), row_of

    def devices(self, method: Method, release: Release, assignment: Assignment, seed: int) -> dict[int, Device]:
        """The device of each user who asks; none where it has nothing to choose.

        Who shares a published profile holds the very same row.
        """
        if _ranks_by_what_is_published(method):
            return {}
        published, row_of = self._published(method, release, assignment)
        held = {row: csr_array(published[[row]]) for row in np.unique(row_of[list(self.own_rows)]).tolist()}
        return {user: Device(own, held[row_of[user]], Random(f"{seed} {user}")) for user, own in self.own_rows.items()}

    def _published(self, method: Method, release: Release, assignment: Assignment) -> tuple[csr_array, np.ndarray]:
        """What is published, over the word forms of the documents, and which row is each user's."""
        rows, row_of = profiles_of(self.users, release, assignment)
        flags, vectors = release.generalized.tolist(), self.index.vectors
        space = profile_space(release.labels, flags, vectors, method.knowledge, assignment.key)
        return csr_array(rows @ space), row_of

    @cached_property
    def own_rows(self) -> dict[int, csr_array]:
        """The own profile of each user who asks, the same whatever is released."""
        return {user: csr_array(self.own[[user]]) for user in np.unique(self.queries.user).tolist()}


def _ranks_by_what_is_published(method: Method) -> bool:
    """Whether every search of a person is ranked by the same published profile, as most methods have it."""
    return type(method).choose is Method.choose
