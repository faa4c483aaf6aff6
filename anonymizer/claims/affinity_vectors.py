"""What is a query about? Its vector of concepts (Carpineto & Romano 3.1 and 3.2), for the verifier of affinity."""

from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array, hstack

from shoal.anonymizer.claims.typed_queries import TypedQueries
from shoal.corpus.tokens import STOP_WORDS, Tokens, tokenize_column

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
    """How many users typed a text that holds each item."""
    return np.bincount((_ones(typed.times) @ _ones(held)).indices, minlength=held.shape[1])


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
