"""How are many users cut into blocks of similar ones? By two-means, again and again, so that nothing grows as n * n."""

from collections.abc import Callable

import numpy as np
from scipy.sparse import csr_array

from shoal.corpus.progress import Progress, silent

_ROUNDS = 3  # of moving the two centres; more change little
Wide = Callable[[np.ndarray], bool]


def similar_blocks(
    vectors: csr_array,
    most: int,
    wide: Wide,
    rng: np.random.Generator,
    progress: Progress = silent,
    multiple: int = 1,
) -> list[np.ndarray]:
    """Rows in blocks of at most `most`, by cutting in halves again and again; a half that is not `wide` is not made.

    Every block but the last has a multiple of so many rows, so that groups of that size lose nobody at the cuts.
    """
    norms = np.sqrt(np.asarray(vectors.multiply(vectors).sum(axis=1)).ravel())
    scale = csr_array((1 / norms, np.arange(len(norms)), np.arange(len(norms) + 1)), shape=(len(norms), len(norms)))
    units = csr_array(scale @ vectors)
    done: list[np.ndarray] = []
    waiting = [np.arange(vectors.shape[0])]
    while waiting:
        rows = waiting.pop()
        progress(sum(len(block) for block in done), vectors.shape[0], "cutting into blocks")
        halves = _halves(units, rows, rng, multiple) if len(rows) > most else ()
        if halves and all(wide(half) for half in halves):
            waiting.extend(reversed(halves))
        else:
            done.append(rows)
    return done


def _halves(
    units: csr_array, rows: np.ndarray, rng: np.random.Generator, multiple: int
) -> tuple[np.ndarray, np.ndarray]:
    """Two halves of equal size, each nearer to its own centre (two-means with a cut at the median)."""
    half = len(rows) // 2 // multiple * multiple
    part = csr_array(units[rows])
    first, second = rng.choice(len(rows), 2, replace=False)
    direction = (part[[first]] - part[[second]]).toarray().ravel()
    for _ in range(_ROUNDS):
        order = np.argsort(-(part @ direction), kind="stable")
        side = np.zeros(len(rows))
        side[order[:half]] = 1.0
        direction = _centre(part, side) - _centre(part, 1 - side)
    return rows[side > 0], rows[side == 0]


def _centre(part: csr_array, side: np.ndarray) -> np.ndarray:
    total = side @ part
    return np.asarray(total / np.sqrt(total @ total))
