"""The loops behind many rankings, compiled; `many_rankings.py` says what they are for."""

import numpy as np
from numba import njit


@njit(cache=True)
def write_cosines(
    documents: np.ndarray, queries: np.ndarray, begin: np.ndarray,
    row_start: np.ndarray, row_column: np.ndarray, row_weight: np.ndarray,
    start: np.ndarray, column: np.ndarray, weight: np.ndarray, columns: int, result: np.ndarray,
) -> None:  # fmt: skip
    """One profile after the other is laid out in full, and each of its candidates is multiplied with it once."""
    profile = np.zeros(columns)
    of_document = np.zeros(len(start) - 1)
    asked_by = np.full(len(start) - 1, -1)
    for p in range(len(begin) - 1):
        for i in range(row_start[p], row_start[p + 1]):
            profile[row_column[i]] = row_weight[i]
        for q in queries[begin[p] : begin[p + 1]]:
            for place in range(documents.shape[1]):
                d = documents[q, place]
                if d < 0:
                    continue
                if asked_by[d] != p:
                    total = 0.0
                    for i in range(start[d], start[d + 1]):
                        total += weight[i] * profile[column[i]]
                    asked_by[d], of_document[d] = p, total
                result[q, place] = of_document[d]
        for i in range(row_start[p], row_start[p + 1]):
            profile[row_column[i]] = 0.0


@njit(cache=True)
def write_first_relevant(
    relevant: np.ndarray, engine: np.ndarray, profile: np.ndarray, everyone: np.ndarray, there: np.ndarray,
    weights: np.ndarray, found: np.ndarray,
) -> None:  # fmt: skip
    depth = found.shape[2]
    best, at = np.empty(depth), np.empty(depth, dtype=np.int64)
    for w in range(len(weights)):
        a, b, c = weights[w]
        for q in range(len(relevant)):
            filled = 0
            for place in range(relevant.shape[1]):
                score = (
                    a * engine[q, place] + b * profile[q, place] + c * everyone[q, place] if there[q, place] else -1.0
                )
                if filled == depth and score <= best[depth - 1]:
                    continue
                rank = min(filled, depth - 1)
                while rank > 0 and best[rank - 1] < score:
                    best[rank], at[rank] = best[rank - 1], at[rank - 1]
                    rank -= 1
                best[rank], at[rank] = score, place
                filled = min(filled + 1, depth)
            for rank in range(filled):
                found[w, q, rank] = relevant[q, at[rank]]
