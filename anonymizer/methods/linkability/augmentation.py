"""What else does a profile mean? Its terms as synonym sets, and the more general ones within a few steps above them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl
from numba import njit
from scipy.sparse import coo_array, csr_array

from shoal.corpus.knowledge import Knowledge
from shoal.corpus.profiles import Profiles
from shoal.corpus.progress import Progress, silent

_USERS_AT_ONCE = 2000  # between two calls of progress


@dataclass(frozen=True, eq=False)
class Senses:
    """The synonym sets of a vocabulary: those of term t are sense[start[t]:start[t + 1]], the most frequent first.

    A term that has none becomes a synonym set of its own, with nothing above it.
    """

    start: np.ndarray
    sense: np.ndarray
    hypernym: np.ndarray  # the synonym set above each one, -1 at the top
    information: np.ndarray  # how specific each one is: 0 at the top


def senses_of(terms: list[str], knowledge: Knowledge) -> Senses:
    """All that WordNet (or the taxonomy file) knows of these terms."""
    hypernym = knowledge.hypernym
    lists: list[np.ndarray] = []
    own = len(hypernym)
    for term in terms:
        found = knowledge.senses(term)
        if len(found) == 0:
            found, own = np.array([own]), own + 1
        lists.append(found)
    start = np.concatenate([[0], np.cumsum([len(found) for found in lists])]).astype(np.int64)
    sense = np.concatenate(lists).astype(np.int32) if lists else np.empty(0, dtype=np.int32)
    alone = np.full(own - len(hypernym), -1, dtype=np.int32)
    information = np.concatenate([_information(hypernym), np.zeros(len(alone))])
    return Senses(start, sense, np.concatenate([hypernym.astype(np.int32), alone]), information)


def _information(hypernym: np.ndarray) -> np.ndarray:
    """The information content of each synonym set: -log of the share of all that are it or below it."""
    below = np.zeros(len(hypernym))
    level = np.arange(len(hypernym))
    while len(level):
        below += np.bincount(level, minlength=len(hypernym))
        level = hypernym[level]
        level = level[level >= 0]
    return np.log(len(hypernym) / below)


def augment(profiles: Profiles, a: int, knowledge: Knowledge, progress: Progress = silent) -> csr_array:
    """Users x synonym sets: steps 1 and 2 of section 3.2. Columns that nobody has are left out."""
    senses = senses_of(profiles.terms, knowledge)
    node = _chosen_senses(profiles.counts, senses, progress)
    user = np.repeat(np.arange(len(profiles)), profiles.size)
    weight = profiles.counts.data.astype(np.float64)
    users, nodes, weights = [], [], []
    for _ in range(a + 1):
        users.append(user)
        nodes.append(node)
        weights.append(weight)
        node = senses.hypernym[node]
        below_top = node >= 0
        node, user, weight = node[below_top], user[below_top], weight[below_top]
    used, column = np.unique(np.concatenate(nodes), return_inverse=True)
    places = (np.concatenate(users), column.ravel())
    return csr_array(coo_array((np.concatenate(weights), places), shape=(len(profiles), len(used))))


def semantic_similarity(
    first: Mapping[str, float], second: Mapping[str, float], a: int, knowledge: Knowledge | None = None
) -> float:
    """The cosine of two augmented profiles (Definition 2, Equation 4)."""
    vectors = augment(_as_profiles([first, second]), a, knowledge or Knowledge())
    dots = (vectors @ vectors.T).toarray()
    norms = np.sqrt(dots[0, 0] * dots[1, 1])
    return float(dots[0, 1] / norms) if norms else 0.0


def senses_in_context(profile: Mapping[str, float], knowledge: Knowledge | None = None) -> dict[str, int]:
    """The synonym set that each term of a profile is read as, among those of `Knowledge.senses`."""
    known = knowledge or Knowledge()
    rows = _as_profiles([profile])
    chosen = _chosen_senses(rows.counts, senses_of(rows.terms, known), silent)
    return {rows.terms[t]: int(node) for t, node in zip(rows.counts.indices, chosen, strict=True)}


def _as_profiles(bags: Sequence[Mapping[str, float]]) -> Profiles:
    terms = sorted({term for bag in bags for term in bag})
    weights = np.array([[bag.get(term, 0.0) for term in terms] for bag in bags])
    return Profiles(pl.Series([str(row) for row in range(len(bags))]), terms, csr_array(weights))


def _chosen_senses(counts: csr_array, senses: Senses, progress: Progress) -> np.ndarray:
    """For each entry of the profiles, the sense whose hypernym path is most like the rest of that profile."""
    chosen = np.empty(len(counts.data), dtype=np.int32)
    weights = counts.data.astype(np.float64)
    around = np.zeros(len(senses.hypernym))
    seen = np.full(len(senses.hypernym), -1, dtype=np.int64)
    square = senses.information**2
    for first in range(0, counts.shape[0], _USERS_AT_ONCE):
        progress(first, counts.shape[0], "reading terms in context")
        last = min(counts.shape[0], first + _USERS_AT_ONCE)
        _choose(
            first, last, counts.indptr, counts.indices, weights, senses.start, senses.sense, senses.hypernym, square,
            around, seen, chosen,
        )  # fmt: skip
    return chosen


@njit(cache=True)
def _choose(first, last, indptr, terms, weights, start, sense, hypernym, square, around, seen, chosen):  # type: ignore[no-untyped-def]
    """`around[v]` is the weight of the terms of the user that have v on the hypernym path of one of their senses."""
    for user in range(first, last):
        for entry in range(indptr[user], indptr[user + 1]):
            for i in range(start[terms[entry]], start[terms[entry] + 1]):
                v = sense[i]
                while v >= 0 and seen[v] != entry:
                    seen[v] = entry
                    around[v] += weights[entry]
                    v = hypernym[v]
        for entry in range(indptr[user], indptr[user + 1]):
            term = terms[entry]
            chosen[entry] = _most_like(weights[entry], sense[start[term] : start[term + 1]], hypernym, square, around)
        for entry in range(indptr[user], indptr[user + 1]):
            for i in range(start[terms[entry]], start[terms[entry] + 1]):
                v = sense[i]
                while v >= 0:
                    around[v] = 0.0
                    v = hypernym[v]


@njit(cache=True)
def _most_like(own, candidates, hypernym, square, around):  # type: ignore[no-untyped-def]
    """The cosine of each candidate's path with the rest, every synset weighing its information content.

    Without that weight all paths would be alike by what they share at the top, where every word meets.
    """
    best = candidates[0]
    best_likeness = -1.0
    for candidate in candidates:
        dot = 0.0
        norm = 0.0
        v = candidate
        while v >= 0:
            dot += square[v] * (around[v] - own)  # the term itself is not the rest
            norm += square[v]
            v = hypernym[v]
        likeness = dot / np.sqrt(norm) if dot > 0.0 else 0.0
        if likeness > best_likeness:
            best = candidate
            best_likeness = likeness
    return best
