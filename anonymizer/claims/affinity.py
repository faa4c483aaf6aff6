"""Does k-theta-affinity hold on what was released? Concepts, cosines and degrees, all counted anew from the log."""

import numpy as np
import polars as pl
from scipy.sparse import csr_array

from shoal.anonymizer.base import QUERIES, Claim
from shoal.anonymizer.claims import HOLDS, Evidence, Values, Verdict, Verifier, broken
from shoal.anonymizer.claims.affinity_cores import degrees_among
from shoal.anonymizer.claims.affinity_vectors import concept_vectors, users_of_items
from shoal.anonymizer.claims.queries import (
    published_degrees,
    verify_exact_degrees,
    verify_profiles,
    verify_released,
)
from shoal.anonymizer.claims.typed_queries import TypedQueries, typed_queries
from shoal.anonymizer.parameters import AT_LEAST_TWO, number, one_of, whole_number
from shoal.corpus.tokens import number_strings


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
