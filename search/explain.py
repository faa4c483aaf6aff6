"""Why does a result stand where it does? The parts of its score, which sum to the score shown."""

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from shoal.search.engines.base import Engine
from shoal.search.rerank import Ranking
from shoal.search.vectors import Vectors


@dataclass(frozen=True)
class Explanation:
    """A score = the sum of what the query's clauses, the profile's terms and everyone's add, each largest first."""

    document: int
    rank: int  # 1 is the best
    score: float
    engine: tuple[tuple[str, float], ...]
    profile: tuple[tuple[str, float], ...]
    everyone: tuple[tuple[str, float], ...] = ()

    def total(self) -> float:
        return sum(part for parts in (self.engine, self.profile, self.everyone) for _, part in parts)


def explain(
    ranking: Ranking,
    rank: int,
    query: str,
    engine: Engine,
    profile: sp.csr_matrix,
    vectors: Vectors,
    everyone: sp.csr_matrix | None = None,
) -> Explanation:
    """The parts of the result at a rank (1 is the best). Profile, vectors and average are those of the ranking."""
    place, document, blend = rank - 1, int(ranking.documents[rank - 1]), ranking.blend
    by_clause = _engine_parts(engine.parts(query, document), blend.engine * float(ranking.engine[place]))
    by_term = _profile_parts(document, profile, vectors, blend.profile / max(ranking.cosine.max(), 1e-300))
    by_all: tuple[tuple[str, float], ...] = ()
    if everyone is not None:
        by_all = _profile_parts(document, everyone, vectors, blend.everyone / max(ranking.everyone.max(), 1e-300))
    return Explanation(document, rank, float(ranking.scores[place]), by_clause, by_term, by_all)


def _engine_parts(parts: list[tuple[str, float]], share: float) -> tuple[tuple[str, float], ...]:
    """The engine's share of the score, split as the clauses split the engine's own score."""
    whole = sum(part for _, part in parts)
    if share == 0 or whole <= 0:
        return ()
    return _largest_first([(clause, share * part / whole) for clause, part in parts if part > 0])


def _profile_parts(
    document: int, profile: sp.csr_matrix, vectors: Vectors, weight: float
) -> tuple[tuple[str, float], ...]:
    """What each term gives to the cosine, times what a cosine weighs among these candidates."""
    row, norm = vectors.rows(np.array([document])), np.sqrt((profile.data**2).sum())
    shared, in_row, in_profile = np.intersect1d(row.indices, profile.indices, return_indices=True)
    if norm == 0 or weight == 0:
        return ()
    values = weight * row.data[in_row] * profile.data[in_profile] / norm
    return _largest_first(list(zip(vectors.names(shared), values.tolist(), strict=True)))


def _largest_first(parts: list[tuple[str, float]]) -> tuple[tuple[str, float], ...]:
    return tuple(sorted(parts, key=lambda part: (-part[1], part[0])))
