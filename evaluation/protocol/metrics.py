"""How good is a ranking? AP@10, P@10, nDCG@10 and MRR of many at once, from where the relevant ones stand."""

from dataclasses import dataclass

import numpy as np

DEPTH = 10
_DISCOUNT = 1 / np.log2(np.arange(2, DEPTH + 2))


@dataclass(frozen=True, eq=False)
class Scores:
    """One number per ranking and measure."""

    ap10: np.ndarray
    p10: np.ndarray
    ndcg10: np.ndarray
    mrr: np.ndarray


def score(relevant: np.ndarray, total: np.ndarray | None = None) -> Scores:
    """Scores of rankings: row q tells for each rank, best first, whether the document there is relevant.

    `total` counts the relevant documents of each; without it, all of them are among the columns. AP@10 is divided by
    min(10, relevant), so that a ranking with ten relevant documents on top has 1; trec_eval's map_cut_10 divides by
    the number of relevant ones.
    """
    total = relevant.sum(axis=1) if total is None else total
    top = relevant[:, :DEPTH].astype(float)
    if top.shape[1] < DEPTH:
        top = np.pad(top, ((0, 0), (0, DEPTH - top.shape[1])))
    precision = np.cumsum(top, axis=1) / np.arange(1, DEPTH + 1)
    best = np.minimum(total, DEPTH)
    ideal = np.concatenate([[0.0], np.cumsum(_DISCOUNT)])[best]
    any_found = relevant.any(axis=1)
    return Scores(
        ap10=_share((precision * top).sum(axis=1), best),
        p10=top.sum(axis=1) / DEPTH,
        ndcg10=_share((top * _DISCOUNT).sum(axis=1), ideal),
        mrr=np.where(any_found, 1 / (relevant.argmax(axis=1) + 1), 0.0),
    )


def _share(part: np.ndarray, whole: np.ndarray) -> np.ndarray:
    return np.divide(part, whole, out=np.zeros(len(part)), where=whole > 0)
