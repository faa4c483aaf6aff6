"""What is a query about? Its concepts: weighted n-grams that enough users typed (Carpineto & Romano 3.1 and 3.2)."""

from dataclasses import dataclass

import numpy as np
from numba import njit

from shoal.anonymizer.distinct_queries import DistinctQueries
from shoal.anonymizer.methods.affinity.ngrams import (
    NGrams,
    count_ngrams,
    count_unigrams,
    distinct_users,
    queries_holding,
)
from shoal.corpus.progress import Progress
from shoal.corpus.tokens import STOP_WORDS

PERCENT_COVERED = 73  # Table 2: the concepts of AOL are 49,346,473 of its 67,567,111 unigrams


@dataclass(frozen=True, eq=False)
class Concepts:
    """The concepts of a log and those of each query: query q holds concept[start[q]:start[q + 1]], ascending."""

    names: list[str]
    weight: np.ndarray
    start: np.ndarray
    concept: np.ndarray  # int32
    holds_rare_word: np.ndarray  # bool per query: some word of it was typed by fewer than word_users users

    @property
    def expanded(self) -> np.ndarray:
        """Which queries hold a concept at all."""
        return np.diff(self.start) > 0


def mine_concepts(queries: DistinctQueries, support: int | str, word_users: int, progress: Progress) -> Concepts:
    """Extract the concepts of a log and expand its queries with them."""
    vocabulary = queries.tokens.vocabulary
    function_word = np.array([word in STOP_WORDS for word in vocabulary], dtype=bool)
    progress(0, 3, "counting n-grams")
    unigrams = count_unigrams(queries)
    least = support_by_coverage(unigrams, function_word) if support == "auto" else int(support)
    levels = count_ngrams(queries, unigrams, least, progress)
    chosen = [(level.users >= least) & ~function_word[level.words].all(axis=1) for level in levels]
    weights = [weight[keep] for weight, keep in zip(weigh(queries, levels), chosen, strict=True)]
    names = [
        " ".join(vocabulary[word] for word in words)
        for level, keep in zip(levels, chosen, strict=True)
        for words in level.words[keep].tolist()
    ]
    one, two, three = (_numbered(levels, chosen, n) for n in range(len(levels)))
    found = sum(int((at >= 0).sum()) for at in (one, two, three))
    start, concept = _distinct_per_query(queries.tokens.start, one, two, three, found)
    return Concepts(names, np.concatenate(weights), start, concept, _holds_rare_word(queries, word_users))


def support_by_coverage(unigrams: NGrams, function_word: np.ndarray) -> int:
    """The smallest support, at least 2, whose concepts are no more than AOL's share of the unigrams as typed."""
    informative = np.where(function_word, 0, unigrams.occurrences)
    covered = np.bincount(unigrams.users, weights=informative)[::-1].cumsum()[::-1]  # by a support of 0, 1, 2, ...
    too_much = np.flatnonzero(100 * covered > PERCENT_COVERED * unigrams.total)
    return max(2, int(too_much[-1]) + 1) if len(too_much) else 2


def weigh(queries: DistinctQueries, levels: list[NGrams]) -> list[np.ndarray]:
    """Equations 1 to 3 for every n-gram; P is the relative frequency among the n-grams of that length."""
    one, two, three = levels
    p1, p2, p3 = (level.occurrences / max(level.total, 1) for level in levels)
    unigram = np.log2(queries_holding(queries, one) + 1.0)
    x, y = two.words.T
    bigram = np.log2(p2 / (p1[x] * p1[y]) + 1)
    x, y, z = three.words.T
    alone = p1[x] * p1[y] * p1[z] + p1[x] * p2[three.right] + p2[three.left] * p1[z]
    return [unigram, bigram, np.log2(p3 / alone + 1)]


def _numbered(levels: list[NGrams], chosen: list[np.ndarray], n: int) -> np.ndarray:
    """The concept that begins at each word, -1 for none; unigrams are numbered first, then the longer ones."""
    before = sum(int(keep.sum()) for keep in chosen[:n])
    number = np.where(chosen[n], before + np.cumsum(chosen[n]) - 1, -1).astype(np.int32)
    at = levels[n].at
    return np.where(at >= 0, number[at], -1).astype(np.int32) if len(number) else np.full(len(at), -1, dtype=np.int32)


@njit(cache=True)
def _distinct_per_query(
    start: np.ndarray, one: np.ndarray, two: np.ndarray, three: np.ndarray, found: int
) -> tuple[np.ndarray, np.ndarray]:
    """The distinct concepts of each query, ascending."""
    row = np.zeros(len(start), dtype=np.int64)
    concept = np.empty(found, dtype=np.int32)
    end = 0
    for query in range(len(start) - 1):
        begin = end
        for i in range(start[query], start[query + 1]):
            for c in (one[i], two[i], three[i]):
                if c >= 0:
                    concept[end] = c
                    end += 1
        concept[begin:end].sort()
        kept = begin
        for i in range(begin, end):
            if i == begin or concept[i] != concept[kept - 1]:
                concept[kept] = concept[i]
                kept += 1
        end = kept
        row[query + 1] = end
    return row, concept[:end].copy()


def _holds_rare_word(queries: DistinctQueries, word_users: int) -> np.ndarray:
    """A term never has fewer users than the words that it is cut from, so that rare terms are found by their words."""
    words = queries.words
    users = distinct_users(queries, words.start, words.ids, len(words.vocabulary))
    return _holds_any(words.start, words.ids, users < word_users)


@njit(cache=True)
def _holds_any(start: np.ndarray, ids: np.ndarray, marked: np.ndarray) -> np.ndarray:
    holds = np.zeros(len(start) - 1, dtype=np.bool_)
    for query in range(len(start) - 1):
        for i in range(start[query], start[query + 1]):
            if marked[ids[i]]:
                holds[query] = True
                break
    return holds
