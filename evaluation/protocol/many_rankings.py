"""How are many rankings made at once? The cosines of all candidates, and which of the first ten are relevant.

An evaluation asks some thousand searches of each release, and tries dozens of weights on each. What `search/rerank.py`
does for one search is done here by compiled loops for all of them, to the last digit.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import scipy.sparse as sp

from shoal.corpus.searches import Blend
from shoal.search.vectors import Vectors


@dataclass(frozen=True, eq=False)
class CandidateVectors:
    """The vectors of all candidates of many queries, read once."""

    place: np.ndarray  # queries x candidates: rows of `rows`, padded with -1
    rows: sp.csr_matrix


def candidate_vectors(documents: np.ndarray, vectors: Vectors) -> CandidateVectors:
    """Row q of `documents` holds the candidates of query q, padded with -1."""
    place = np.full(documents.shape, -1)
    different, place[documents >= 0] = np.unique(documents[documents >= 0], return_inverse=True)
    return CandidateVectors(place, vectors.rows(different))


def many_cosines(candidates: CandidateVectors, profile_of: np.ndarray, profiles: sp.csr_matrix) -> np.ndarray:
    """For many queries at once: the cosine of each candidate with the profile that its query is asked under.

    Query q is asked under row profile_of[q] of `profiles`, which are in the space of the documents. The padding has
    -1, so that it stays at the end.
    """
    from shoal.evaluation.protocol.ranking_loops import write_cosines  # loads numba: pages are shown without it

    used, begin = np.unique(np.sort(profile_of), return_index=True)
    rows = sp.csr_array(profiles[used])
    start, column = (
        part.astype(np.int64, copy=False) for part in (rows.indptr, rows.indices)
    )  # or all is compiled twice
    matrix, queries = candidates.rows, np.argsort(profile_of, kind="stable")
    result = np.full(candidates.place.shape, -1.0)
    write_cosines(
        candidates.place, queries, np.append(begin, len(queries)), start, column, _of_length_one(rows),
        matrix.indptr, matrix.indices, matrix.data, matrix.shape[1], result,
    )  # fmt: skip
    return result


def _of_length_one(rows: sp.csr_array) -> np.ndarray:
    """The weights of each row, scaled to length 1; an empty one has nothing to scale."""
    norms = np.array([np.sqrt((rows.data[a:b] ** 2).sum()) for a, b in pairwise(rows.indptr.tolist())])
    norm = np.repeat(norms, np.diff(rows.indptr))
    return np.divide(rows.data, norm, out=np.zeros(len(norm)), where=norm > 0)


def first_relevant(
    relevant: np.ndarray, parts: tuple[np.ndarray, np.ndarray, np.ndarray], there: np.ndarray,
    blends: Sequence[Blend], depth: int,
) -> np.ndarray:  # fmt: skip
    """Blends x queries x ranks: whether the document at each of the first ranks is relevant; ties as they stand.

    The parts are the engine's order and the cosines with profile and average, as shares of the best of each query.
    """
    from shoal.evaluation.protocol.ranking_loops import write_first_relevant

    weights = np.array([(blend.engine, blend.profile, blend.everyone) for blend in blends])
    found = np.empty((len(blends), len(relevant), min(depth, relevant.shape[1])), dtype=np.bool_)
    write_first_relevant(relevant, *parts, there, weights, found)
    return found
