"""Which terms are suppressed to break every mole? Greedily, the one that breaks most per occurrence that is lost."""

from collections.abc import Sequence

import numba
import numpy as np

from shoal.corpus.progress import Progress

TERMS_PER_BLOCK = 100  # between two calls of progress


def suppress_greedily(moles: Sequence[np.ndarray], lost: np.ndarray, progress: Progress) -> np.ndarray:
    """The terms to suppress (lines 2-4 of Algorithm 2.1), until each set of each table has lost one of its terms.

    Score(e) is the number of sets that e is in, divided by lost[e]; among equals, the first term.
    """
    total = sum(len(table) for table in moles)
    term = np.concatenate([np.empty(0, dtype=np.int64), *(table.ravel() for table in moles)])
    sizes = np.repeat([table.shape[1] for table in moles], [len(table) for table in moles]).astype(np.int64)
    mole, start = np.repeat(np.arange(total), sizes), np.concatenate([[0], np.cumsum(sizes)])
    by_term = mole[np.argsort(term, kind="stable")]
    hits = np.bincount(term, minlength=len(lost)).astype(np.int64)
    term_start = np.concatenate([[0], np.cumsum(hits)]).astype(np.int64)
    broken, chosen = np.zeros(total, dtype=bool), [np.empty(0, dtype=np.int64)]
    while hits.any():
        progress(int(broken.sum()), total, "suppressing terms")
        chosen.append(
            break_sets(start, term, term_start, by_term, hits, lost.astype(np.int64), broken, TERMS_PER_BLOCK)
        )
    return np.concatenate(chosen)


@numba.njit(cache=True)
def break_sets(
    start: np.ndarray,
    term: np.ndarray,
    term_start: np.ndarray,
    by_term: np.ndarray,
    hits: np.ndarray,
    lost: np.ndarray,
    broken: np.ndarray,
    count: int,
) -> np.ndarray:
    """Suppress up to `count` terms: `hits` and `broken` are kept as they are then."""
    chosen = np.empty(count, dtype=np.int64)
    size = 0
    while size < count:
        best = -1
        for e in range(len(hits)):
            if hits[e] > 0 and (best < 0 or hits[e] * lost[best] > hits[best] * lost[e]):
                best = e
        if best < 0:
            break
        for i in range(term_start[best], term_start[best + 1]):
            mole = by_term[i]
            if not broken[mole]:
                broken[mole] = True
                for j in range(start[mole], start[mole + 1]):
                    hits[term[j]] -= 1
        chosen[size] = best
        size += 1
    return chosen[:size]
