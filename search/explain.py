"""Why does a result stand where it does? The parts of its score, which sum to the score shown."""

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from shoal.search.engines.base import Engine
from shoal.search.rerank import Ranking
from shoal.search.vectors import DocumentVectors


@dataclass(frozen=True)
class Explanation:
    """A score = the sum of what the query's clauses and the profile's terms add, each largest first."""

    document: int
    rank: int  # 1 is the best
    score: float
    engine: tuple[tuple[str, float], ...]
    profile: tuple[tuple[str, float], ...]

    def total(self) -> float:
        return sum(part for _, part in self.engine) + sum(part for _, part in self.profile)


def explain(
    ranking: Ranking, rank: int, query: str, engine: Engine, profile: sp.csr_matrix, vectors: DocumentVectors
) -> Explanation:
    """The parts of the result at a rank (1 is the best). `profile` and `vectors` are those of the ranking."""
    place, document = rank - 1, int(ranking.documents[rank - 1])
    by_clause = _engine_parts(engine.parts(query, document), (1 - ranking.weight) * float(ranking.engine[place]))
    by_term = _profile_parts(document, profile, vectors, ranking.weight / max(ranking.cosine.max(), 1e-300))
    return Explanation(document, rank, float(ranking.scores[place]), by_clause, by_term)


def _engine_parts(parts: list[tuple[str, float]], share: float) -> tuple[tuple[str, float], ...]:
    """The engine's share of the score, split as the clauses split the engine's own score."""
    whole = sum(part for _, part in parts)
    if share == 0 or whole <= 0:
        return ()
    return _largest_first([(clause, share * part / whole) for clause, part in parts if part > 0])


def _profile_parts(
    document: int, profile: sp.csr_matrix, vectors: DocumentVectors, weight: float
) -> tuple[tuple[str, float], ...]:
    """What each term gives to the cosine, times what a cosine weighs among these candidates."""
    row, norm = vectors.matrix[[document]], np.sqrt((profile.data**2).sum())
    shared, in_row, in_profile = np.intersect1d(row.indices, profile.indices, return_indices=True)
    if norm == 0 or weight == 0:
        return ()
    values = weight * row.data[in_row] * profile.data[in_profile] / norm
    names = [vectors.terms[column] for column in shared]
    return _largest_first(list(zip(names, values.tolist(), strict=True)))


def _largest_first(parts: list[tuple[str, float]]) -> tuple[tuple[str, float], ...]:
    return tuple(sorted(parts, key=lambda part: (-part[1], part[0])))
