"""How does a profile reorder candidates? By the cosine of each document with it."""

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from corpus.errors import InputError
from search.engines.base import Candidates
from search.vectors import DocumentVectors

# Cells of the profiles x documents block that is computed at a time in `rerank_many` (64 MB).
_BLOCK_CELLS = 8_000_000


@dataclass(frozen=True)
class Ranking:
    """Documents best first; the score is (1 - weight) * engine + weight * cosine."""

    documents: np.ndarray
    scores: np.ndarray
    engine: np.ndarray  # the engine's score, scaled so that the best candidate has 1
    cosine: np.ndarray
    weight: float

    def __len__(self) -> int:
        return len(self.documents)


def rerank(candidates: Candidates, profile: sp.csr_matrix, vectors: DocumentVectors, weight: float = 1.0) -> Ranking:
    """The candidates by engine (weight 0) and profile (weight 1), a row in the space of the documents.

    Ties keep the engine's order.
    """
    if not 0 <= weight <= 1:
        raise InputError(f"the weight of the profile is {weight}; give a number from 0 (engine) to 1 (profile)")
    engine = scaled(candidates.scores)
    cosine = cosines(candidates.documents, profile, vectors)
    scores = (1 - weight) * engine + weight * cosine
    order = np.argsort(-scores, kind="stable")
    return Ranking(candidates.documents[order], scores[order], engine[order], cosine[order], weight)


def scaled(scores: np.ndarray) -> np.ndarray:
    """Engine scores as shares of the best one."""
    best = scores.max(initial=0.0)
    return scores / best if best > 0 else np.zeros(len(scores))


def cosines(documents: np.ndarray, profile: sp.csr_matrix, vectors: DocumentVectors) -> np.ndarray:
    """The cosine of each document with one profile; 0 where either is empty.

    Only the rows of these documents are touched. The dense profile is zeroed memory of which only
    their cells are read, so the size of the vocabulary does not matter.
    """
    matrix, norm = vectors.matrix, np.sqrt((profile.data**2).sum())
    if not len(documents) or norm == 0:
        return np.zeros(len(documents))
    dense = np.zeros(matrix.shape[1])
    dense[profile.indices] = profile.data / norm
    begin, end = matrix.indptr[documents], matrix.indptr[documents + 1]
    cells = _ranges(begin, end)
    owner = np.repeat(np.arange(len(documents)), end - begin)
    products = matrix.data[cells] * dense[matrix.indices[cells]]
    return np.bincount(owner, weights=products, minlength=len(documents))


def _ranges(begin: np.ndarray, end: np.ndarray) -> np.ndarray:
    """begin[0]..end[0]-1, begin[1]..end[1]-1, and so on."""
    lengths = (end - begin).astype(np.int64)
    before = np.cumsum(lengths) - lengths
    return np.arange(lengths.sum()) + np.repeat(begin - before, lengths)


def rerank_many(
    documents: np.ndarray, profile_of: np.ndarray, profiles: sp.csr_matrix, vectors: DocumentVectors
) -> np.ndarray:
    """For many queries at once: the candidates of each (a row, padded with -1) by cosine with its profile.

    Query q is asked under row profile_of[q] of `profiles` (in the space of the documents). Ties keep the order
    of the row; the padding stays at the end.
    """
    cosine = many_cosines(documents, profile_of, profiles, vectors)
    order = np.argsort(-cosine, axis=1, kind="stable")
    return np.take_along_axis(documents, order, axis=1)


def many_cosines(
    documents: np.ndarray, profile_of: np.ndarray, profiles: sp.csr_matrix, vectors: DocumentVectors
) -> np.ndarray:
    """The cosine of each cell of `documents` with its row's profile; -1 where there is no document."""
    result = np.zeros(documents.shape)
    used, profile_of = np.unique(profile_of, return_inverse=True)
    by_profile = np.argsort(profile_of, kind="stable")
    block = max(1, _BLOCK_CELLS // max(1, len(vectors)))
    for begin in range(0, len(used), block):
        unit = _unit_rows(profiles[used[begin : begin + block]])
        table = (unit @ vectors.by_term).toarray()
        first, last = np.searchsorted(profile_of[by_profile], [begin, begin + block])
        queries = by_profile[first:last]
        result[queries] = table[(profile_of[queries] - begin)[:, None], documents[queries]]
    result[documents < 0] = -1
    return result


def _unit_rows(profiles: sp.csr_matrix) -> sp.csr_matrix:
    norms = np.sqrt(np.asarray(profiles.multiply(profiles).sum(axis=1)).ravel())
    scale = np.divide(1.0, norms, out=np.zeros_like(norms), where=norms > 0)
    return sp.csr_matrix(sp.diags(scale) @ profiles)
