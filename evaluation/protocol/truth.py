"""What is relevant to the person who asks? What the own profile ranks first, and what the person clicked."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.sparse import csr_array

from shoal.corpus.querylog import QueryLog
from shoal.evaluation.measures.base import CLICKS, RankingMeasure, Rankings
from shoal.evaluation.measures.registry import measures_of
from shoal.evaluation.protocol.precision import TestQueries, gold
from shoal.search.index import Index
from shoal.search.rerank import best_first


@dataclass(frozen=True, eq=False)
class Truth:
    """Some of the test queries, and which of the candidates of each are relevant."""

    suffix: str  # of the names of its scores
    row: np.ndarray  # positions in the test queries
    user: np.ndarray  # who asks each
    relevant: np.ndarray  # rows x candidates
    total: np.ndarray  # how many documents are relevant, whether among the candidates or not
    named: tuple[np.ndarray, np.ndarray] | None = None  # as `pairs`, where not all are among the candidates

    @cached_property
    def users(self) -> np.ndarray:
        return np.unique(self.user)

    def pairs(self, queries: TestQueries) -> tuple[np.ndarray, np.ndarray]:
        """Every relevant document: the position of its query in `row`, and the document."""
        return self.named or (np.nonzero(self.relevant)[0], queries.documents[self.row][self.relevant])

    def scores(self, cosine: np.ndarray) -> dict[str, np.ndarray]:
        """One value per user and measure, of all candidates re-ranked by cosine."""
        rankings = self.rankings(cosine)
        return {f"{m.name}{self.suffix}": self.by_user(m.compute(rankings)) for m in measures_of(RankingMeasure)}

    def rankings(self, scores: np.ndarray) -> Rankings:
        """All candidates by their scores, ties in the engine's order."""
        order = best_first(scores[self.row])
        return Rankings(np.take_along_axis(self.relevant, order, axis=1), self.total)

    def by_user(self, values: np.ndarray) -> np.ndarray:
        """The mean over the queries of each user."""
        place = np.searchsorted(self.users, self.user)
        return np.bincount(place, weights=values) / np.bincount(place)


def truth_of_profiles(queries: TestQueries, own: csr_array, index: Index) -> Truth:
    """The first 30 candidates by cosine with the user's own profile (Zhu & Xiong), a row of `own`."""
    relevant = gold(queries, own, index)
    return Truth("", np.arange(len(queries)), queries.user, relevant, relevant.sum(axis=1))


def truth_of_clicks(queries: TestQueries, test: QueryLog, index: Index) -> Truth | None:
    """The documents that the user clicked after asking the query in the test part; None where no click names one."""
    event, document = _clicked_documents(test, index)
    asked = queries.user.astype(np.int64) * len(test.queries) + queries.query
    clicked = test.user[event].astype(np.int64) * len(test.queries) + test.query[event]
    pairs = np.unique(np.stack([clicked, document]), axis=1)
    row = np.flatnonzero(np.isin(asked, pairs[0]))
    if not len(row):
        return None
    # A document of a query is one number, so that all candidates are looked up at once.
    wanted = pairs[0] * len(index) + pairs[1]
    cells = asked[row, None] * len(index) + queries.documents[row]
    relevant = np.isin(cells, wanted) & (queries.documents[row] >= 0)
    first, last = (np.searchsorted(pairs[0], asked[row], side) for side in ("left", "right"))
    held = np.isin(pairs[0], asked[row])
    # No user asks one test query twice, so that each clicked query is one row.
    place = np.argsort(asked[row])[np.searchsorted(np.sort(asked[row]), pairs[0, held])]
    return Truth(CLICKS, row, queries.user[row], relevant, last - first, (place, pairs[1, held]))


def _clicked_documents(test: QueryLog, index: Index) -> tuple[np.ndarray, np.ndarray]:
    """The event and the document of each click whose url is a document's url or id."""
    wanted = set(test.urls.to_list())
    place: dict[str, int] = {}
    for i, document in enumerate(index.documents if wanted else ()):
        for name in (document.id, document.url):
            # A log's fields hold no blanks, so a name with blanks stands there with underscores.
            for spelled in (name, "_".join(name.replace('"', " ").split())):
                if spelled in wanted:
                    place.setdefault(spelled, i)
    document_of = np.array([place.get(url, -1) for url in test.urls.to_list()], dtype=np.int64)
    found = document_of[test.click_url] if len(document_of) else np.empty(0, dtype=np.int64)
    known = found >= 0
    return test.click_event[known], found[known]
