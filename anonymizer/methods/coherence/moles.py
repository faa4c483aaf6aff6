"""Which few public terms give somebody away? Minimal moles: rare sets, and sets whose holders share a secret."""

from collections.abc import Iterator
from typing import NamedTuple

import numba
import numpy as np
from scipy.sparse import csr_array

from shoal.anonymizer.term_sets import Holders, common_users, holders_of, who_holds
from shoal.corpus.progress import Progress

SETS_PER_BLOCK = 200  # between two calls of progress


class Limits(NamedTuple):
    """A set is a mole where fewer than k users hold it, or more than above/below of them share a sensitive term."""

    k: int
    above: int
    below: int


def size_one_moles(public: csr_array, private: csr_array, limits: Limits, progress: Progress) -> np.ndarray:
    """Of each term, whether it is a mole by itself (line 1 of Algorithm 2.1)."""
    progress(0, public.shape[0], "looking for single terms that tell")
    support = np.bincount(public.indices, minlength=public.shape[1])
    shared = csr_array(public.T @ private)
    most = shared.max(axis=1).toarray().ravel() if shared.nnz else np.zeros(len(support), dtype=np.int64)
    return (support < limits.k) | (most.astype(np.int64) * limits.below > limits.above * support)


def wider_moles(public: csr_array, private: csr_array, limits: Limits, p: int, progress: Progress) -> list[np.ndarray]:
    """The minimal moles of 2 to p terms, as rows of one table for each size; no single term is one.

    As in Apriori, only a set of which no part is a mole is extended (section 2.3).
    """
    known, found = who_holds(public, private), []
    safe = np.flatnonzero(np.bincount(public.indices, minlength=public.shape[1])).reshape(-1, 1)
    for size in range(2, p + 1):
        blocks = list(_extensions(known, safe, limits, progress, f"looking for {size} terms that tell"))
        found.append(np.concatenate([np.empty((0, size), dtype=np.int64), *(moles for moles, _ in blocks)]))
        safe = np.concatenate([np.empty((0, size), dtype=np.int64), *(others for _, others in blocks)])
    return found


def _extensions(
    known: Holders, safe: np.ndarray, limits: Limits, progress: Progress, stage: str
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """For some safe sets at a time: the minimal moles and the safe sets with one term more."""
    terms, size = len(known.user_start) - 1, safe.shape[1] + 1
    keys = np.sort(_keys(safe, terms))
    tally, secret_tally = np.zeros(terms, dtype=np.int64), np.zeros(terms, dtype=np.int64)
    for begin in range(0, len(safe), SETS_PER_BLOCK):
        progress(begin, len(safe), stage)
        block = safe[begin : begin + SETS_PER_BLOCK]
        moles, others = extend(block, keys, known, limits, tally, secret_tally)
        yield moles.reshape(-1, size), others.reshape(-1, size)


def _keys(sets: np.ndarray, terms: int) -> np.ndarray:
    keys = np.zeros(len(sets), dtype=np.int64)
    for column in range(sets.shape[1]):
        keys = keys * terms + sets[:, column]
    return keys


@numba.njit(cache=True)
def extend(
    sets: np.ndarray, keys: np.ndarray, known: Holders, limits: Limits, tally: np.ndarray, secret_tally: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """The minimal moles and the safe sets that these safe sets make with one later term, one after another."""
    moles = [np.int64(0) for _ in range(0)]
    others = [np.int64(0) for _ in range(0)]
    size = sets.shape[1]
    for row in range(len(sets)):
        holders = holders_of(sets[row], known)
        last = sets[row, size - 1]
        for user in holders:
            for i in range(known.start[user], known.start[user + 1]):
                tally[known.terms[i]] += 1
        for user in holders:
            for i in range(known.start[user], known.start[user + 1]):
                term = known.terms[i]
                support = tally[term]
                tally[term] = 0
                if support == 0 or term <= last or not _parts_are_safe(sets[row], term, keys, len(tally)):
                    continue
                mole = support < limits.k
                if not mole:
                    most = _most_shared(holders, term, known, secret_tally)
                    mole = most * limits.below > limits.above * support
                into = moles if mole else others
                for column in range(size):
                    into.append(sets[row, column])
                into.append(term)
    return np.array(moles), np.array(others)


@numba.njit(cache=True)
def _parts_are_safe(terms: np.ndarray, more: int, keys: np.ndarray, width: int) -> bool:
    """Whether `keys` holds every set of these terms and one more, less one of these."""
    missing = 0
    for left_out in range(len(terms)):
        key = np.int64(0)
        for column in range(len(terms)):
            if column != left_out:
                key = key * width + terms[column]
        key = key * width + more
        place = np.searchsorted(keys, key)
        missing += place == len(keys) or keys[place] != key
    return missing == 0


@numba.njit(cache=True)
def _most_shared(holders: np.ndarray, term: int, known: Holders, tally: np.ndarray) -> int:
    """How many of these users who hold the term besides share one sensitive term, at most."""
    most = 0
    those = common_users(holders, known.users[known.user_start[term] : known.user_start[term + 1]])
    for user in those:
        for i in range(known.secret_start[user], known.secret_start[user + 1]):
            tally[known.secrets[i]] += 1
            most = max(most, tally[known.secrets[i]])
    for user in those:
        for i in range(known.secret_start[user], known.secret_start[user + 1]):
            tally[known.secrets[i]] = 0
    return most
