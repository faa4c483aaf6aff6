"""Which runs of one, two or three words do enough users type? The n-grams of a log, with their counts."""

from dataclasses import dataclass

import numpy as np
from numba import njit

from shoal.anonymizer.distinct_queries import DistinctQueries
from shoal.corpus.progress import Progress

LONGEST = 3


@dataclass(frozen=True, eq=False)
class NGrams:
    """The n-grams of one length. The one that begins at word i of the log's distinct queries is at[i], -1 for none.

    Only n-grams whose parts enough users typed are numbered: no other can have enough users itself.
    """

    words: np.ndarray  # int32, n-grams x length
    at: np.ndarray  # int32 per word of the queries
    users: np.ndarray  # distinct users of each
    occurrences: np.ndarray  # in all queries as asked, repetitions counted
    total: float  # occurrences of all n-grams of this length, the unnumbered ones too
    left: np.ndarray  # the n-gram of one word less that each one begins with
    right: np.ndarray  # and the one that it ends with


def count_unigrams(queries: DistinctQueries) -> NGrams:
    """The words of a log, all of them."""
    words = np.arange(len(queries.tokens.vocabulary), dtype=np.int32)[:, None]
    return _counted(queries, words, queries.tokens.ids.astype(np.int32), np.empty((2, 0), dtype=np.int64))


def count_ngrams(queries: DistinctQueries, unigrams: NGrams, support: int, progress: Progress) -> list[NGrams]:
    """The unigrams, bigrams and trigrams of a log."""
    levels = [unigrams]
    while len(levels) < LONGEST:
        progress(len(levels), LONGEST, "counting n-grams")
        levels.append(_counted(queries, *_one_word_longer(levels[-1], queries, support)))
    progress(LONGEST, LONGEST, "counting n-grams")
    return levels


def _counted(queries: DistinctQueries, words: np.ndarray, at: np.ndarray, ends: np.ndarray) -> NGrams:
    lengths, length = np.diff(queries.tokens.start), words.shape[1]
    total = float((queries.occurrences * np.maximum(lengths - length + 1, 0)).sum())
    there, times = at >= 0, np.repeat(queries.occurrences.astype(float), lengths)
    occurrences = np.bincount(at[there], weights=times[there], minlength=len(words))
    users = distinct_users(queries, queries.tokens.start, at, len(words))
    return NGrams(words, at, users, occurrences, total, ends[0], ends[1])


def _one_word_longer(
    shorter: NGrams, queries: DistinctQueries, support: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The n-grams whose first and last n-1 words enough users typed."""
    ids, start = queries.tokens.ids.astype(np.int32), queries.tokens.start
    length = shorter.words.shape[1] + 1
    enough = np.zeros(len(ids) + 1, dtype=bool)  # one more, so that a place has a next one
    there = np.flatnonzero(shorter.at >= 0)
    enough[there] = shorter.users[shorter.at[there]] >= support
    begins = enough[:-1] & enough[1:]
    begins[start[1:][np.diff(start) > 0] - 1] = False  # the next word belongs to another query
    place = np.flatnonzero(begins)
    vocabulary = max(1, len(queries.tokens.vocabulary))
    keys = shorter.at[place].astype(np.int64) * vocabulary + ids[place + length - 1]
    distinct, first, number = np.unique(keys, return_index=True, return_inverse=True)
    at = np.full(len(ids), -1, dtype=np.int32)
    at[place] = number
    words = np.column_stack([shorter.words[distinct // vocabulary], distinct % vocabulary]).astype(np.int32)
    return words, at, np.stack([shorter.at[place[first]], shorter.at[place[first] + 1]])


def distinct_users(queries: DistinctQueries, start: np.ndarray, at: np.ndarray, items: int) -> np.ndarray:
    """How many users asked a query that holds each item; query q holds at[start[q]:start[q + 1]], -1 for none."""
    return _distinct_users(queries.asked.indptr, queries.asked.indices, start, at, items)


def queries_holding(queries: DistinctQueries, unigrams: NGrams) -> np.ndarray:
    """N of Equation 1: in how many queries, as asked, each word occurs."""
    return _queries_holding(queries.tokens.start, unigrams.at, queries.occurrences, len(unigrams.words))


@njit(cache=True)
def _distinct_users(
    user_start: np.ndarray, asked: np.ndarray, start: np.ndarray, at: np.ndarray, items: int
) -> np.ndarray:
    """Users are visited one after the other, so remembering each item's last user is enough."""
    users = np.zeros(items, dtype=np.int64)
    last = np.full(items, -1, dtype=np.int32)
    for user in range(len(user_start) - 1):
        for query in asked[user_start[user] : user_start[user + 1]]:
            for item in at[start[query] : start[query + 1]]:
                if item >= 0 and last[item] != user:
                    last[item] = user
                    users[item] += 1
    return users


@njit(cache=True)
def _queries_holding(start: np.ndarray, at: np.ndarray, occurrences: np.ndarray, items: int) -> np.ndarray:
    holding = np.zeros(items, dtype=np.int64)
    last = np.full(items, -1, dtype=np.int64)
    for query in range(len(start) - 1):
        for item in at[start[query] : start[query + 1]]:
            if last[item] != query:
                last[item] = query
                holding[item] += occurrences[query]
    return holding
