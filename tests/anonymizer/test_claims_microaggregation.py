"""Does the verifier of user k-anonymity accept true releases only? Broken twins must be rejected, with a reason."""

from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from scipy.sparse import csr_array, hstack

from shoal.anonymizer.base import Anonymized, Assignment, Claim, Release
from shoal.anonymizer.claims import Evidence, Verdict, verify
from shoal.anonymizer.methods.microaggregation import Microaggregation
from shoal.corpus.knowledge import Knowledge
from shoal.corpus.querylog import QueryLog, make_log

KNOWN = Knowledge()
TOPICS = [
    "dog cat wolf horse cow sheep goat pig".split(),
    "wine beer bread cheese butter milk soup salad".split(),
    "violin piano trumpet drum guitar flute harp organ".split(),
    "river lake ocean sea pond bay canal creek".split(),
]


@pytest.fixture(scope="module")
def log() -> QueryLog:
    rng = np.random.default_rng(5)
    users, queries = [], []
    for user in range(24):
        words = TOPICS[user % 4]
        for _ in range(int(rng.integers(8, 20))):
            users.append(f"u{user}")
            queries.append(" ".join(rng.choice(words, size=rng.integers(1, 3), replace=False)))
    return make_log(pl.Series(users), pl.Series(queries))


@pytest.fixture(scope="module")
def made(log: QueryLog) -> Anonymized:
    return Microaggregation(KNOWN, k=3).anonymize(log, seed=2)


def verdict_on(made: Anonymized, log: QueryLog, claim: Claim | None = None) -> Verdict:
    return verify(claim or made.claim, Evidence(made.release, made.assignment, made.suppressed, log, KNOWN))


def with_weights(made: Anonymized, weights: csr_array, labels: list[str] | None = None) -> Anonymized:
    names = labels or made.release.labels
    flags = np.zeros(len(names), dtype=bool)
    return replace(made, release=replace(made.release, weights=weights, labels=names, generalized=flags))


def moved(made: Anonymized, members: list[int], profiles: list[int]) -> Anonymized:
    profile = made.assignment.profile.copy()
    profile[members] = profiles
    users = np.bincount(profile, minlength=len(made.release))
    release: Release = replace(made.release, users=users)
    assignment = Assignment(made.assignment.users, made.assignment.user, profile)
    return replace(made, release=release, assignment=assignment)


def test_the_true_release_is_accepted(made: Anonymized, log: QueryLog) -> None:
    assert verdict_on(made, log).holds


def test_a_group_of_k_minus_1_is_rejected(made: Anonymized, log: QueryLog) -> None:
    verdict = verdict_on(moved(made, [0], [int(made.assignment.profile[1])]), log)
    assert not verdict.holds
    assert "fewer than k=3" in verdict.counterexample


def test_two_members_of_different_topics_swapped_are_rejected(made: Anonymized, log: QueryLog) -> None:
    of = made.assignment.profile
    other = next(i for i in range(len(of)) if of[i] != of[0] and i % 4 != 0)
    verdict = verdict_on(moved(made, [0, other], [int(of[other]), int(of[0])]), log)
    assert not verdict.holds
    assert "could be in it" in verdict.counterexample


def test_a_foreign_term_is_rejected(made: Anonymized, log: QueryLog) -> None:
    more = csr_array(hstack([made.release.weights, csr_array(np.eye(len(made.release), 1))], format="csr"))
    verdict = verdict_on(with_weights(made, more, [*made.release.labels, "zebra"]), log)
    assert not verdict.holds
    assert "zebra" in verdict.counterexample


def test_a_term_that_only_another_group_asked_is_rejected(made: Anonymized, log: QueryLog) -> None:
    dense = made.release.weights.toarray()
    row = int(made.assignment.profile[0])  # animals
    dense[row, made.release.labels.index("violin")] += 1
    verdict = verdict_on(with_weights(made, csr_array(dense)), log)
    assert not verdict.holds
    assert "at most 0 times" in verdict.counterexample


def test_a_log_larger_than_the_mean_is_rejected(made: Anonymized, log: QueryLog) -> None:
    verdict = verdict_on(with_weights(made, csr_array(made.release.weights * 3)), log)
    assert not verdict.holds


def test_a_log_of_half_the_size_is_rejected(made: Anonymized, log: QueryLog) -> None:
    dense = made.release.weights.toarray()
    dense[0, np.flatnonzero(dense[0])[::2]] = 0
    assert not verdict_on(with_weights(made, csr_array(dense)), log).holds


def test_an_empty_profile_is_rejected(made: Anonymized, log: QueryLog) -> None:
    assert not verdict_on(with_weights(made, csr_array(made.release.weights * 0)), log).holds
    assert not verdict_on(with_weights(made, csr_array(made.release.weights.shape)), log).holds


def test_a_fraction_of_a_query_is_rejected(made: Anonymized, log: QueryLog) -> None:
    verdict = verdict_on(with_weights(made, csr_array(made.release.weights * 0.5)), log)
    assert not verdict.holds
    assert "whole queries" in verdict.counterexample


def test_a_claim_of_a_larger_k_than_was_made_is_rejected(made: Anonymized, log: QueryLog) -> None:
    claim = replace(made.claim, values={"k": 4})
    assert "fewer than k=4" in verdict_on(made, log, claim).counterexample
