"""Does k-theta-affinity hold on what was released? Concepts, cosines and degrees, all counted anew from the log.

As the paper scores them (3.3), a vector is scored against others by an inverted index, here against those that have one
of its rarer concepts among their own rarest; then, level by level, what has fewer users around it than the level asks
for is removed until nothing more is.
"""

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import polars as pl
from numba import njit
from scipy.sparse import csr_array, eye_array, hstack

from shoal.anonymizer.base import QUERIES, Claim
from shoal.anonymizer.claims import HOLDS, Evidence, Values, Verdict, Verifier, broken
from shoal.anonymizer.claims.queries import (
    TypedQueries,
    published_degrees,
    typed_queries,
    verify_exact_degrees,
    verify_profiles,
    verify_released,
)
from shoal.anonymizer.parameters import AT_LEAST_TWO, number, one_of, whole_number
from shoal.corpus.tokens import STOP_WORDS, Tokens, number_strings, tokenize_column

_SLACK = 1e-10  # so that rounding loses no pair at the threshold itself
_ENTRIES_AT_ONCE = 50_000_000
_USERS_AT_ONCE = 50_000
_PERCENT = 73  # Table 2: so many of all unigrams are concepts


@dataclass(frozen=True, eq=False)
class NGrams:
    """The n-grams of one length; the one that begins at word i of the log's queries is at[i], -1 for none."""

    at: np.ndarray
    first: np.ndarray  # a word at which each one begins
    held: csr_array  # texts x n-grams: how often
    users: np.ndarray
    typed: np.ndarray  # occurrences as typed
    chance: np.ndarray  # P: its share of the occurrences of n-grams of this length


def concept_vectors(typed: TypedQueries, support: int | float | str) -> csr_array:
    """Texts x concepts: the weight of each concept that a text holds."""
    tokens = tokenize_column(typed.texts)
    one = _ngrams(typed, tokens, tokens.ids.astype(np.int64))
    two = _ngrams(typed, tokens, _longer(tokens, one, 1))
    three = _ngrams(typed, tokens, _longer(tokens, two, 2))
    function_word = np.array([word in STOP_WORDS for word in tokens.vocabulary], dtype=bool)
    least = _support_by_coverage(one, function_word) if support == "auto" else int(support)
    parts: list[csr_array] = []
    for level, weight in zip((one, two, three), _weights(typed, one, two, three), strict=True):
        words = [tokens.ids[level.first + i] for i in range(len(parts) + 1)]
        chosen = (level.users >= least) & ~np.all(function_word[words], axis=0)
        parts.append(_weighted(level.held, np.where(chosen, weight, 0)))
    return csr_array(hstack(parts, format="csr"))


def users_of_items(typed: TypedQueries, held: csr_array) -> np.ndarray:
    """How many users typed a text that holds each item. Some users at a time: with all items of all it is large."""
    times, held = _ones(typed.times), _ones(held)
    users = np.zeros(held.shape[1], dtype=np.int64)
    for low in range(0, times.shape[0], _USERS_AT_ONCE):
        users += np.bincount((times[low : low + _USERS_AT_ONCE] @ held).indices, minlength=len(users))
    return users


def _ones(counts: csr_array) -> csr_array:
    return csr_array((np.ones(counts.nnz, dtype=np.int32), counts.indices, counts.indptr), shape=counts.shape)


def _ngrams(typed: TypedQueries, tokens: Tokens, key: np.ndarray) -> NGrams:
    """Number the n-grams by their keys; -1 is the key of a word at which none begins."""
    places = np.flatnonzero(key >= 0)
    distinct, first, number = np.unique(key[places], return_index=True, return_inverse=True)
    at = np.full(len(key), -1)
    at[places] = number
    row = np.repeat(np.arange(len(tokens)), np.diff(tokens.start))[places]
    held = csr_array((np.ones(len(places)), (row, number)), shape=(len(tokens), len(distinct)))
    held.sum_duplicates()
    times = _total(typed) @ held
    return NGrams(at, places[first], held, users_of_items(typed, held), times, times / max(1, times.sum()))


def _longer(tokens: Tokens, shorter: NGrams, length: int) -> np.ndarray:
    """The key of the n-gram that begins at each word: the one of a word less, and the last word."""
    text = np.repeat(np.arange(len(tokens)), np.diff(tokens.start))
    key = np.full(len(text), -1)
    begins = np.arange(max(0, len(text) - length))
    begins = begins[text[begins] == text[begins + length]]
    key[begins] = shorter.at[begins] * len(tokens.vocabulary) + tokens.ids[begins + length]
    return key


def _total(typed: TypedQueries) -> np.ndarray:
    """How often each text was typed, by whomever."""
    return np.bincount(typed.times.indices, weights=typed.times.data, minlength=len(typed.texts))


def _weights(typed: TypedQueries, one: NGrams, two: NGrams, three: NGrams) -> tuple[np.ndarray, ...]:
    """Equations 1 to 3."""
    holding = _total(typed) @ _ones(one.held)
    p, q = one.chance[one.at], two.chance
    apart = p[two.first] * p[two.first + 1]
    x, y, z = (three.first + i for i in range(3))
    apart3 = p[x] * p[y] * p[z] + p[x] * q[two.at[y]] + q[two.at[x]] * p[z]
    return np.log2(holding + 1), np.log2(two.chance / apart + 1), np.log2(three.chance / apart3 + 1)


def _support_by_coverage(one: NGrams, function_word: np.ndarray) -> int:
    """The smallest support, at least 2, by which no more than 73 % of the words as typed are concepts."""
    informative = np.where(function_word[one.at[one.first]], 0, one.typed)
    order = np.argsort(one.users)
    covered = informative[order][::-1].cumsum()[::-1]  # by a support of the users of each word in that order
    too_much = np.flatnonzero(100 * covered > _PERCENT * one.typed.sum())
    return max(2, int(one.users[order][too_much[-1]]) + 1) if len(too_much) else 2


def _weighted(held: csr_array, weight: np.ndarray) -> csr_array:
    """The columns with a weight, each entry being that weight."""
    chosen = np.flatnonzero(weight > 0)
    part = csr_array(held[:, chosen])
    return csr_array((weight[chosen][part.indices], part.indices, part.indptr), shape=part.shape)


def degrees_among(vectors: csr_array, asked: csr_array, theta: float, levels: np.ndarray) -> np.ndarray:
    """For each query the largest of these ascending levels that its degree reaches, 0 for none; asked by its users."""
    if not vectors.nnz:
        return np.zeros(vectors.shape[0], dtype=np.int64)
    group, first = _equal_rows(vectors)
    member = csr_array((np.ones(len(group), dtype=np.int32), (group, np.arange(len(group)))))
    asked = csr_array((np.ones(asked.nnz, dtype=np.int32), asked.indices, asked.indptr), shape=asked.shape)
    return _levels_reached(_affine(csr_array(vectors[first]), theta), csr_array(member @ asked), levels)[group]


def _equal_rows(vectors: csr_array) -> tuple[np.ndarray, np.ndarray]:
    """The number of each row among the distinct ones, and a row of each number. Equal concepts weigh the same."""
    vectors.sort_indices()
    concepts = vectors.indices.astype(np.int32).tobytes()
    numbers: dict[bytes, int] = {}
    bounds = pairwise((4 * vectors.indptr.astype(np.int64)).tolist())
    group = np.array([numbers.setdefault(concepts[a:b], len(numbers)) for a, b in bounds], dtype=np.int64)
    return group, np.unique(group, return_index=True)[1]


def _affine(vectors: csr_array, theta: float) -> csr_array:
    """Vectors x vectors, an entry where the cosine is at least theta; each is affine to itself."""
    norm = np.asarray(vectors.multiply(vectors).sum(axis=1)).ravel()
    order = np.argsort(norm, kind="stable")
    rarest_first = np.argsort(np.bincount(vectors.indices, minlength=vectors.shape[1]), kind="stable")
    rows = csr_array(csr_array(vectors[order])[:, rarest_first])
    rows.sort_indices()
    rarest = _rarest(rows.indptr, rows.data, norm[order], theta)
    start = np.concatenate([[0], np.cumsum(rarest)])[rows.indptr]
    columns = csr_array((rarest[rarest], rows.indices[rarest], start), shape=rows.shape).tocsc()
    pairs = _pairs(rows.indptr, rows.indices, rows.data, norm[order], columns.indptr, columns.indices, theta)
    a, b = order[pairs[:, 0]], order[pairs[:, 1]]
    shape = (len(norm), len(norm))
    half = csr_array((np.ones(len(a), dtype=np.int32), (a, b)), shape=shape)
    return csr_array(half + half.T + eye_array(len(norm), dtype=np.int32, format="csr"))


@njit(cache=True)
def _rarest(start: np.ndarray, weight: np.ndarray, norm: np.ndarray, share: float) -> np.ndarray:
    """The concepts of each row from which on this share of its squared norm is left."""
    rarest = np.zeros(len(weight), dtype=np.bool_)
    for a in range(len(norm)):
        left = norm[a]
        for i in range(start[a], start[a + 1]):
            rarest[i] = left >= share * norm[a] * (1 - _SLACK)
            left -= weight[i] * weight[i]
    return rarest


@njit(cache=True)
def _pairs(
    start: np.ndarray, concept: np.ndarray, weight: np.ndarray, norm: np.ndarray,
    column_start: np.ndarray, row: np.ndarray, theta: float,
) -> np.ndarray:  # fmt: skip
    """The pairs of cosine theta or more. Rows ascend by squared norm, and those of a pair differ by theta^2 at most.

    So a row shares theta^2 of its own squared norm with one before it, and theta of that one's. The rarest concept of
    both is one of its own from which on so much is left, and one of those of the other by which the columns hold it.
    """
    pairs = np.empty((1024, 2), dtype=np.int64)
    found = 0
    met = np.full(len(norm), -1)  # by which row last
    for a in range(len(norm)):
        least = theta * theta * norm[a] * (1 - _SLACK)
        low, left = np.searchsorted(norm[:a], least), norm[a]
        for i in range(start[a], start[a + 1]):
            if left < least:
                break
            left -= weight[i] * weight[i]
            rows = row[column_start[concept[i]] : column_start[concept[i] + 1]]
            for b in rows[np.searchsorted(rows, low) : np.searchsorted(rows, a)]:
                if met[b] == a:
                    continue
                met[b] = a
                score = _in_common(concept, weight, start[a], start[a + 1], start[b], start[b + 1])
                if score >= theta * np.sqrt(norm[a] * norm[b]) * (1 - _SLACK):
                    if found == len(pairs):
                        pairs = np.concatenate((pairs, np.empty_like(pairs)))
                    pairs[found, 0], pairs[found, 1] = a, b
                    found += 1
    return pairs[:found].copy()


@njit(cache=True)
def _in_common(concept: np.ndarray, weight: np.ndarray, i: int, end_i: int, j: int, end_j: int) -> float:
    """The product of two rows, each ascending by concept. A concept weighs the same in every row."""
    score = 0.0
    while i < end_i and j < end_j:
        if concept[i] == concept[j]:
            score += weight[i] * weight[i]
            i += 1
            j += 1
        elif concept[i] < concept[j]:
            i += 1
        else:
            j += 1
    return score


def _levels_reached(near: csr_array, users: csr_array, levels: np.ndarray) -> np.ndarray:
    """The largest level whose core holds each row. Around a row are its own users and those of rows near it."""
    reached = np.zeros(near.shape[0], dtype=np.int64)
    there = np.ones(near.shape[0], dtype=bool)
    own = np.diff(users.indptr).astype(np.int64)
    at_least = own.copy()  # of the users around each row
    standing = np.arange(near.shape[0])
    for level in levels.tolist():
        doubtful = standing[at_least[standing] < level]
        while len(doubtful):
            at_least[doubtful] = _users_around(near, users, doubtful, there)
            left = doubtful[at_least[doubtful] < level]
            there[left] = False
            lost = csr_array(near[left])
            np.subtract.at(at_least, lost.indices, np.repeat(own[left], np.diff(lost.indptr)))
            around = np.unique(lost.indices)
            at_least[around] = np.maximum(at_least[around], own[around])
            doubtful = around[there[around] & (at_least[around] < level)]
        standing = standing[there[standing]]
        reached[standing] = level
        if not len(standing):
            break
    return reached


def _users_around(near: csr_array, users: csr_array, rows: np.ndarray, there: np.ndarray) -> np.ndarray:
    """The distinct users of each of these rows and of the rows near it that are still there."""
    around = csr_array(near[rows])
    entries = np.concatenate([[0], np.cumsum(np.diff(users.indptr)[around.indices])])[around.indptr]
    bounds = np.searchsorted(entries, np.arange(0, entries[-1], _ENTRIES_AT_ONCE))
    counts = np.empty(len(rows), dtype=np.int64)
    for begin, end in pairwise(np.unique([*bounds, len(rows)]).tolist()):
        part = around[begin:end]
        part.data = there[part.indices].astype(np.int32)
        part.eliminate_zeros()
        counts[begin:end] = np.diff((part @ users).indptr)
    return counts


def verify_affinity(claim: Claim, evidence: Evidence) -> Verdict:
    """What has a degree of k or more is released with it; with exact=no, with a degree from k to the exact one."""
    typed = typed_queries(evidence.log)
    verdict = verify_released(evidence, typed)
    if not verdict.holds:
        return verdict
    k, published = int(claim.values["k"]), published_degrees(evidence, typed)
    low = np.flatnonzero((published != 0) & (published < k))
    if len(low):
        query, degree = typed.texts[int(low[0])], published[low[0]]
        return broken(f"{query!r} is released with degree {degree}, fewer than k={k}")
    rare = rare_word_of(typed, int(claim.values["word_users"]))
    vectors = concept_vectors(typed, claim.values["support"])
    verdict = _verify_no_rare_word(typed, published, vectors, rare)
    if not verdict.holds:
        return verdict
    degree = _degrees(claim, typed, vectors, rare, published)
    exact = claim.values["exact"] == "yes"
    verdict = verify_exact_degrees(k, typed, published, degree) if exact else _verify_bounds(typed, published, degree)
    return verify_profiles(evidence, typed) if verdict.holds else verdict


def rare_word_of(typed: TypedQueries, word_users: int) -> pl.Series:
    """A word of each text, from blank to blank, that fewer than so many users typed; null where there is none."""
    words = number_strings(typed.texts.str.split(" "))
    text, word = np.repeat(np.arange(len(words)), np.diff(words.start)), words.ids
    held = csr_array((np.ones(len(text)), (text, word)), shape=(len(words), len(words.vocabulary)))
    is_rare = (users_of_items(typed, held) < word_users)[word]
    found = np.full(len(words), len(words.vocabulary))  # stands for none
    found[text[is_rare]] = word[is_rare]
    return pl.Series([*words.vocabulary, None], dtype=pl.String).gather(found)


def _verify_no_rare_word(typed: TypedQueries, published: np.ndarray, vectors: csr_array, rare: pl.Series) -> Verdict:
    """A released query with a concept holds no word of too few users."""
    wrong = np.flatnonzero((published > 0) & (np.diff(vectors.indptr) > 0) & rare.is_not_null().to_numpy())
    if len(wrong):
        query, word = typed.texts[int(wrong[0])], rare[int(wrong[0])]
        return broken(f"{query!r} is released, but too few users typed its word {word!r}")
    return HOLDS


def _degrees(
    claim: Claim, typed: TypedQueries, vectors: csr_array, rare: pl.Series, published: np.ndarray
) -> np.ndarray:
    """The degree of each text, as far as it must be known: is it at least each published one, and more than that?"""
    k, theta = int(claim.values["k"]), float(claim.values["theta"])
    said = published[published > 0]
    levels = np.unique(np.concatenate([[k], said, said + 1] if claim.values["exact"] == "yes" else [[k], said]))
    has_concept = np.diff(vectors.indptr) > 0
    part = np.flatnonzero(has_concept & rare.is_null().to_numpy())
    degree = np.where(has_concept, 0, typed.users)
    asked = csr_array(typed.times.T.tocsr()[part])
    degree[part] = degrees_among(csr_array(vectors[part]), asked, theta, levels)
    return degree


def _verify_bounds(typed: TypedQueries, published: np.ndarray, degree: np.ndarray) -> Verdict:
    high = np.flatnonzero(published > degree)
    if len(high):
        query, said = typed.texts[int(high[0])], published[high[0]]
        return broken(f"{query!r} is released with degree {said}, but by the log it is {degree[high[0]]}")
    return HOLDS


def _sentence(values: Values) -> str:
    degrees = (
        "all queries of such a degree are released, each with its exact degree"
        if values["exact"] == "yes"
        else "its degree is a lower bound of how many"
    )
    return (
        f"For each released query, {values['k']} users in all typed it or a query affine to it (cosine at least "
        f"{values['theta']:g}), and {values['word_users']} typed each of its words if it holds a concept; {degrees}."
    )


VERIFIERS = (
    Verifier(
        "affinity-k-anonymity",
        "query",
        verify_affinity,
        _sentence,
        {
            "k": AT_LEAST_TWO,
            "theta": number(0.1, 1),
            "support": whole_number(2) | one_of("auto"),
            "word_users": AT_LEAST_TWO,
            "exact": one_of("yes", "no"),
        },
        files=(QUERIES,),
    ),
)
