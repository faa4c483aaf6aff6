"""Sets of terms: which users hold them, and which terms are suppressed to break some of them at the least loss?"""

from collections.abc import Sequence
from typing import NamedTuple

import numba
import numpy as np
from scipy.sparse import csr_array

from shoal.corpus.progress import Progress

TERMS_PER_BLOCK = 100  # between two calls of progress


class Holders(NamedTuple):
    """Who holds which terms: user -> terms and sensitive terms, term -> users, all ascending."""

    start: np.ndarray
    terms: np.ndarray
    secret_start: np.ndarray
    secrets: np.ndarray
    user_start: np.ndarray
    users: np.ndarray


def who_holds(terms: csr_array, private: csr_array) -> Holders:
    """Of two matrices users x terms: the terms that make sets, and the sensitive ones that they may tell."""
    columns = [terms.indptr, terms.indices, private.indptr, private.indices]
    by_term = csr_array(terms.T)
    by_term.sort_indices()
    return Holders(*(column.astype(np.int64) for column in (*columns, by_term.indptr, by_term.indices)))


@numba.njit(cache=True)
def holders_of(terms: np.ndarray, known: Holders) -> np.ndarray:
    """The users who hold all of these terms."""
    found = known.users[known.user_start[terms[0]] : known.user_start[terms[0] + 1]]
    for term in terms[1:]:
        found = common_users(found, known.users[known.user_start[term] : known.user_start[term + 1]])
    return found


@numba.njit(cache=True)
def common_users(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    """Who is in both of two ascending lists."""
    both = np.empty(min(len(one), len(other)), dtype=np.int64)
    i, j, size = 0, 0, 0
    while i < len(one) and j < len(other):
        if one[i] == other[j]:
            both[size] = one[i]
            size += 1
        step = one[i] - other[j]
        i += step <= 0
        j += step >= 0
    return both[:size]


def suppress_greedily(tables: Sequence[np.ndarray], lost: np.ndarray, progress: Progress) -> np.ndarray:
    """The terms to suppress until each set, a row of one of the tables, has lost one of its terms.

    Next is the term with the most sets that it is in, divided by lost[e]; among equals, the first.
    """
    total = sum(len(table) for table in tables)
    term = np.concatenate([np.empty(0, dtype=np.int64), *(table.ravel() for table in tables)])
    sizes = np.repeat([table.shape[1] for table in tables], [len(table) for table in tables]).astype(np.int64)
    owner, start = np.repeat(np.arange(total), sizes), np.concatenate([[0], np.cumsum(sizes)])
    by_term = owner[np.argsort(term, kind="stable")]
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
            one = by_term[i]
            if not broken[one]:
                broken[one] = True
                for j in range(start[one], start[one + 1]):
                    hits[term[j]] -= 1
        chosen[size] = best
        size += 1
    return chosen[:size]
