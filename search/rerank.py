"""How does a profile reorder candidates? By the cosine of each with it, beside the engine's score."""

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from shoal.corpus.errors import InputError
from shoal.corpus.searches import Blend
from shoal.search.engines.base import Candidates
from shoal.search.vectors import Vectors


@dataclass(frozen=True)
class Ranking:
    """Documents best first; the score is a blend of the engine's order and of cosines, each as a share of the best.

    The best candidate has 1 by each part, so that a weight of 0.85 is 85 %: cosines alone are small numbers, and the
    words of the query would decide nearly always.
    """

    documents: np.ndarray
    scores: np.ndarray
    engine: np.ndarray  # the place in the engine's order: 1 is the first
    cosine: np.ndarray  # with the profile, as it is
    everyone: np.ndarray  # with everyone's average
    blend: Blend

    def __len__(self) -> int:
        return len(self.documents)


def rerank(
    candidates: Candidates,
    profile: sp.csr_matrix,
    vectors: Vectors,
    blend: Blend = Blend(1.0),  # noqa: B008, which is frozen
    everyone: sp.csr_matrix | None = None,
    rows: sp.csr_matrix | None = None,
) -> Ranking:
    """The candidates by the engine's order, a profile and everyone's average, rows in the space of the documents.

    Ties keep the engine's order. Who has the vectors of the candidates already gives them as `rows`.
    """
    if not (0 <= blend.profile <= 1 and blend.everyone >= 0 and blend.engine >= -1e-9):
        raise InputError(f"the weight of the profile is {blend.profile}; give a number from 0 (engine) to 1 (profile)")
    documents, engine = candidates.documents, engine_order(candidates.documents)
    found = vectors.rows(documents) if rows is None else rows
    cosine = row_cosines(found, profile)
    average = np.zeros(len(documents)) if everyone is None else row_cosines(found, everyone)
    scores = blended(engine, cosine, average, blend)
    order = best_first(scores)
    return Ranking(documents[order], scores[order], engine[order], cosine[order], average[order], blend)


def best_first(scores: np.ndarray) -> np.ndarray:
    """The order of each row of scores. Ties keep the order in which they stand, which is the engine's."""
    return np.argsort(-scores, axis=-1, kind="stable")


def scaled(scores: np.ndarray) -> np.ndarray:
    """The scores of each row as shares of its best one."""
    best = scores.max(axis=-1, keepdims=True, initial=0.0)
    return np.divide(scores, best, out=np.zeros(scores.shape), where=best > 0)


def engine_order(documents: np.ndarray) -> np.ndarray:
    """The place of each candidate in the engine's order, from 1 in equal steps to nearly 0; padding (-1) has 0."""
    there = documents >= 0
    found = np.maximum(there.sum(axis=-1, keepdims=True), 1)
    return np.where(there, 1 - np.arange(documents.shape[-1]) / found, 0.0)


def blended(order: np.ndarray, profile: np.ndarray, everyone: np.ndarray, blend: Blend) -> np.ndarray:
    """The score of each candidate, from the engine's order and the cosines with a profile and with the average."""
    return blend.engine * order + blend.profile * scaled(profile) + blend.everyone * scaled(everyone)


def cosines(documents: np.ndarray, profile: sp.csr_matrix, vectors: Vectors) -> np.ndarray:
    """The cosine of each document with one profile (a row); 0 where either is empty. Only their rows are read."""
    return row_cosines(vectors.rows(documents), profile)


def row_cosines(rows: sp.csr_matrix, profile: sp.csr_matrix) -> np.ndarray:
    """The same of documents whose vectors are there already.

    The dense profile is zeroed memory of which few cells are touched: the size of the vocabulary does not matter.
    """
    norm = np.sqrt((profile.data**2).sum())
    if not rows.shape[0] or norm == 0:
        return np.zeros(rows.shape[0])
    dense = np.zeros(rows.shape[1])
    dense[profile.indices] = profile.data / norm
    return np.asarray(rows @ dense)
