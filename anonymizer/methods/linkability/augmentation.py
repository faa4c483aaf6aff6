"""What else does a profile mean? Its terms as synonym sets, and the more general ones within a few steps above them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl
from numba import njit
from scipy.sparse import csr_array

from shoal.corpus.knowledge import Knowledge
from shoal.corpus.knowledge.wordnet import Above
from shoal.corpus.profiles import Profiles
from shoal.corpus.progress import Progress, silent

_USERS_AT_ONCE = 2000  # between two calls of progress
_EQUAL = 1e-12


@dataclass(frozen=True, eq=False)
class Senses:
    """The synonym sets of a vocabulary: those of term t are sense[start[t]:start[t + 1]], the most frequent first.

    A term that has none becomes a synonym set of its own, with nothing above it.
    """

    start: np.ndarray
    sense: np.ndarray
    above: Above  # of each synonym set, along all paths
    information: np.ndarray  # how specific each one is: 0 at the top


def senses_of(terms: list[str], knowledge: Knowledge) -> Senses:
    """All that WordNet (or the taxonomy file) knows of these terms."""
    above = knowledge.hypernyms.all_above
    known = len(above.start) - 1
    lists: list[np.ndarray] = []
    own = known
    for term in terms:
        found = knowledge.senses(term)
        if len(found) == 0:
            found, own = np.array([own]), own + 1
        lists.append(found)
    start = np.concatenate([[0], np.cumsum([len(found) for found in lists])]).astype(np.int64)
    sense = np.concatenate(lists).astype(np.int32) if lists else np.empty(0, dtype=np.int32)
    # the information content: -log of the share of all synonym sets that are this one or below it
    information = np.log(known / np.bincount(above.node, minlength=known))
    alone = own - known
    return Senses(start, sense, _with_alone(above, alone), np.concatenate([information, np.zeros(alone)]))


def _with_alone(above: Above, alone: int) -> Above:
    """As many more synonym sets that have nothing above them."""
    known, numbers = len(above.start) - 1, np.arange(1, alone + 1)
    return Above(
        np.concatenate([above.start, above.start[-1] + numbers]),
        np.concatenate([above.node, known - 1 + numbers]).astype(np.int32),
        np.concatenate([above.steps, np.zeros(alone, dtype=np.int16)]),
    )


def augment(profiles: Profiles, a: int, knowledge: Knowledge, progress: Progress = silent) -> csr_array:
    """Users x synonym sets: steps 1 and 2 of section 3.2. Columns that nobody has are left out."""
    senses = senses_of(profiles.terms, knowledge)
    chosen = _chosen_senses(profiles.counts, senses, progress)
    near = senses.above.steps <= a
    start = np.concatenate([[0], np.cumsum(near)])[senses.above.start]
    sets = len(senses.above.start) - 1
    hypernyms = csr_array((np.ones(start[-1]), senses.above.node[near], start), shape=(sets, sets))
    weights = profiles.counts.data.astype(np.float64)
    synsets = csr_array((weights, chosen, profiles.counts.indptr), shape=(len(profiles), sets))
    augmented = csr_array(synsets @ hypernyms)
    used, column = np.unique(augmented.indices, return_inverse=True)
    content = (augmented.data, column.astype(np.int32), augmented.indptr)
    return csr_array(content, shape=(len(profiles), len(used)))


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
    """For each entry of the profiles, the sense whose hypernym paths are most like the rest of that profile."""
    chosen = np.empty(len(counts.data), dtype=np.int32)
    weights = counts.data.astype(np.float64)
    around = np.zeros(len(senses.information))
    seen = np.full(len(senses.information), -1, dtype=np.int64)
    square = senses.information**2
    for first in range(0, counts.shape[0], _USERS_AT_ONCE):
        progress(first, counts.shape[0], "reading terms in context")
        last = min(counts.shape[0], first + _USERS_AT_ONCE)
        _choose(
            first, last, counts.indptr, counts.indices, weights, senses.start, senses.sense, senses.above, square,
            around, seen, chosen,
        )  # fmt: skip
    return chosen


@njit(cache=True)
def _choose(first, last, indptr, terms, weights, start, sense, above, square, around, seen, chosen):  # type: ignore[no-untyped-def]
    """`around[v]` is the weight of the terms of the user that have v at or above one of their senses."""
    for user in range(first, last):
        for entry in range(indptr[user], indptr[user + 1]):
            for i in range(start[terms[entry]], start[terms[entry] + 1]):
                for place in range(above.start[sense[i]], above.start[sense[i] + 1]):
                    v = above.node[place]
                    if seen[v] != entry:
                        seen[v] = entry
                        around[v] += weights[entry]
        for entry in range(indptr[user], indptr[user + 1]):
            term = terms[entry]
            chosen[entry] = _most_like(weights[entry], sense[start[term] : start[term + 1]], above, square, around)
        for entry in range(indptr[user], indptr[user + 1]):
            for i in range(start[terms[entry]], start[terms[entry] + 1]):
                for place in range(above.start[sense[i]], above.start[sense[i] + 1]):
                    around[above.node[place]] = 0.0


@njit(cache=True)
def _most_like(own, candidates, above, square, around):  # type: ignore[no-untyped-def]
    """The cosine of what is above each candidate with the rest, every synset weighing its information content.

    Without that weight all would be alike by what they share at the top, where every word meets. The first of equals:
    sums in another order may differ in the last digits.
    """
    best = candidates[0]
    best_likeness = -1.0
    for candidate in candidates:
        dot = 0.0
        norm = 0.0
        for place in range(above.start[candidate], above.start[candidate + 1]):
            v = above.node[place]
            dot += square[v] * (around[v] - own)  # the term itself is not the rest
            norm += square[v]
        likeness = dot / np.sqrt(norm) if dot > 0.0 else 0.0
        if likeness > best_likeness + _EQUAL:
            best = candidate
            best_likeness = likeness
    return best
