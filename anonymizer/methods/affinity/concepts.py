"""What is a query about? Its concepts: weighted n-grams that enough users typed (Carpineto & Romano 3.1 and 3.2).

Which queries are about the very same concepts? Classes of queries with one concept vector: affinity is between them.

Queries with the same concepts have cosine 1 and the same neighbours, so they live and die together: a graph over
classes, each with the union of its queries' users, has the same generalized cores as one over (query, user) pairs.
"""

from dataclasses import dataclass

import numpy as np
from numba import njit
from scipy.sparse import csr_array

from shoal.anonymizer.distinct_queries import DistinctQueries
from shoal.corpus.progress import Progress
from shoal.corpus.tokens import STOP_WORDS

LONGEST = 3
PERCENT_COVERED = 73  # Table 2: the concepts of AOL are 49,346,473 of its 67,567,111 unigrams


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


@dataclass(frozen=True, eq=False)
class AffinityClasses:
    """Concept vectors, numbered by their squared norm.

    Class c holds the concepts concept[start[c]:start[c + 1]], the rarest first, and its queries were asked by
    user[user_start[c]:user_start[c + 1]].
    """

    start: np.ndarray  # int64
    concept: np.ndarray  # int32
    square: np.ndarray  # the squared weight of each concept
    norm: np.ndarray  # the squared norm of each class, ascending
    user_start: np.ndarray
    user: np.ndarray
    of_query: np.ndarray  # the class of each query, -1 for a query without one

    def __len__(self) -> int:
        return len(self.norm)

    @property
    def vectors(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """What tells the cosine of two classes."""
        return self.start, self.concept, self.square, self.norm


def affinity_classes(queries: DistinctQueries, concepts: Concepts) -> AffinityClasses:
    """Group the queries that take part: with a concept, and without a word that too few users typed."""
    part = np.flatnonzero(concepts.expanded & ~concepts.holds_rare_word & (queries.users > 0))
    first, of_row = _group_equal_rows(concepts.start, concepts.concept, part)
    rows = part[first]
    rank, square = _rarest_first(concepts, rows)
    norm = _norms(concepts.start, concepts.concept, concepts.weight**2, rows)
    order = np.lexsort((rows, norm))
    start, concept = _gather_rows(concepts.start, rank[concepts.concept], rows[order])
    place = np.empty(len(order), dtype=np.int64)
    place[order] = np.arange(len(order))
    of_query = np.full(len(queries), -1, dtype=np.int64)
    of_query[part] = place[of_row]
    users = _users_of_classes(queries, part, of_query[part], len(order))
    return AffinityClasses(start, concept, square, norm[order], users.indptr, users.indices, of_query)


def _rarest_first(concepts: Concepts, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """New numbers of the concepts, by how many classes hold them, and their squared weights in that order."""
    holding = _count(concepts.start, concepts.concept, rows, len(concepts.weight))
    order = np.lexsort((np.arange(len(holding)), holding))
    rank = np.empty(len(order), dtype=np.int32)
    rank[order] = np.arange(len(order), dtype=np.int32)
    return rank, (concepts.weight**2)[order]


def _users_of_classes(queries: DistinctQueries, part: np.ndarray, group: np.ndarray, classes: int) -> csr_array:
    ones = np.ones(len(part), dtype=np.int32)
    membership = csr_array((ones, (group, part)), shape=(classes, len(queries)))
    users = csr_array(membership @ queries.askers.astype(np.int32))
    users.sort_indices()
    return users


@njit(cache=True)
def _group_equal_rows(start: np.ndarray, items: np.ndarray, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Number the distinct rows in the order of appearance: the first of each, and the group of every row."""
    size = 16
    while size < 2 * len(rows):
        size *= 2
    table = np.full(size, -1, dtype=np.int64)
    first = np.empty(len(rows), dtype=np.int64)
    group = np.empty(len(rows), dtype=np.int64)
    groups = 0
    for i in range(len(rows)):
        a = items[start[rows[i]] : start[rows[i] + 1]]
        code = np.uint64(len(a))
        for item in a:
            code = (code ^ np.uint64(item)) * np.uint64(0x9E3779B97F4A7C15)
            code ^= code >> np.uint64(29)
        slot = np.int64(code & np.uint64(size - 1))
        while table[slot] >= 0:
            other = rows[first[table[slot]]]
            if np.array_equal(items[start[other] : start[other + 1]], a):
                break
            slot = (slot + 1) & (size - 1)
        if table[slot] < 0:
            table[slot] = groups
            first[groups] = i
            groups += 1
        group[i] = table[slot]
    return first[:groups].copy(), group


@njit(cache=True)
def _count(start: np.ndarray, items: np.ndarray, rows: np.ndarray, size: int) -> np.ndarray:
    count = np.zeros(size, dtype=np.int64)
    for row in rows:
        for i in range(start[row], start[row + 1]):
            count[items[i]] += 1
    return count


@njit(cache=True)
def _norms(start: np.ndarray, items: np.ndarray, square: np.ndarray, rows: np.ndarray) -> np.ndarray:
    norm = np.zeros(len(rows))
    for i in range(len(rows)):
        for j in range(start[rows[i]], start[rows[i] + 1]):
            norm[i] += square[items[j]]
    return norm


@njit(cache=True)
def _gather_rows(start: np.ndarray, items: np.ndarray, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """These rows, each sorted."""
    new = np.zeros(len(rows) + 1, dtype=np.int64)
    for i in range(len(rows)):
        new[i + 1] = new[i] + start[rows[i] + 1] - start[rows[i]]
    gathered = np.empty(new[-1], dtype=np.int32)
    for i in range(len(rows)):
        for j in range(new[i + 1] - new[i]):
            gathered[new[i] + j] = items[start[rows[i]] + j]
        gathered[new[i] : new[i + 1]].sort()
    return new, gathered
