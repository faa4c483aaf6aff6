"""What does a person find, and why does each result stand where it does? Search for one user, as plain data."""

from collections.abc import Sequence
from dataclasses import dataclass
from difflib import get_close_matches

import numpy as np
from scipy.sparse import csr_array

from shoal.anonymizer.release_files import StoredRelease
from shoal.corpus.errors import InputError
from shoal.corpus.knowledge import Knowledge
from shoal.corpus.profiles import build_profiles
from shoal.corpus.querylog import QueryLog
from shoal.evaluation.protocol.precision import CANDIDATES, profile_rows
from shoal.search.explain import Explanation, explain
from shoal.search.index import Index
from shoal.search.query import MAX_CHARACTERS, parse_query
from shoal.search.rerank import Ranking, rerank
from shoal.search.vectors import profile_space


@dataclass(frozen=True)
class Found:
    """One result as it is shown; `before` is its rank without a profile, from 1."""

    rank: int
    before: int
    id: str
    title: str
    snippet: str
    score: float
    engine: tuple[tuple[str, float], ...]
    profile: tuple[tuple[str, float], ...]


@dataclass(frozen=True)
class Answer:
    """The results of a query, whose profile ordered them, and what may have been meant."""

    query: str
    profile: str
    suggestion: str
    results: tuple[Found, ...]


def check_query(query: str) -> None:
    """Refuse what cannot be searched for, before an index is opened."""
    if not parse_query(query):
        raise InputError(
            f"nothing to search for in {query[:40]!r}: give at least one word of letters or digits "
            f"(the first {MAX_CHARACTERS:,} characters are read)"
        )


def own_profile(log: QueryLog, user: str, known: Knowledge, index: Index) -> csr_array:
    """The profile of a user of the log, in the space of the documents."""
    row = find_user(user, log.users.to_list())
    one = build_profiles(log.for_users(np.array([row])), known.words)
    return csr_array(one.counts @ profile_space(one.terms, [False] * len(one.terms), index.vectors, known))


def published_profile(stored: StoredRelease, user: str, index: Index) -> csr_array:
    """The published profile that serves a user: the mean of several; empty for a user who was suppressed."""
    release, names = stored.release, stored.assignment.users.to_list()
    rows, row_of = profile_rows(release, stored.assignment, names)
    space = profile_space(release.labels, release.generalized.tolist(), index.vectors, stored.knowledge)
    return csr_array(rows[[row_of[find_user(user, names)]]] @ space)


def find_user(user: str, users: Sequence[str]) -> int:
    if user not in users:
        near = get_close_matches(user, users, 3, 0.5) or list(users[:3])
        raise InputError(f"no user {user!r} among the {len(users)} of the log: there are for example {', '.join(near)}")
    return users.index(user)


def answer(query: str, index: Index, profile: csr_array | None, whose: str, weight: float, limit: int) -> Answer:
    """The first `limit` results: by the engine alone, or with a profile by both, as `weight` says."""
    candidates = index.engine.candidates(query, CANDIDATES)
    personal = profile is not None and profile.nnz > 0
    row = profile if profile is not None else csr_array((1, index.vectors.matrix.shape[1]))
    ranking = rerank(candidates, row, index.vectors, weight if personal else 0.0)
    before = {int(document): rank for rank, document in enumerate(candidates.documents, 1)}
    documents = [int(document) for document in ranking.documents[:limit]]
    snippets = index.engine.snippets(query, documents)
    reasons = [explain(ranking, rank, query, index.engine, row, index.vectors) for rank in range(len(documents))]
    results = [
        _found(index, ranking, rank, before, str(snippet), reason)
        for rank, (snippet, reason) in enumerate(zip(snippets, reasons, strict=True))
    ]
    return Answer(query, whose if personal else "no profile", index.engine.suggest(query) or "", tuple(results))


def _found(
    index: Index, ranking: Ranking, rank: int, before: dict[int, int], snippet: str, reason: Explanation
) -> Found:
    document = int(ranking.documents[rank])
    store = index.documents
    return Found(
        rank + 1, before[document], store.id(document), store.title(document), snippet,
        float(ranking.scores[rank]), reason.engine, reason.profile,
    )  # fmt: skip
