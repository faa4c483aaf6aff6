"""Is the fast Coherence the literal Algorithm 2.1, and does its verifier tell right from wrong?"""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array

from shoal.anonymizer.base import Anonymized, Suppressed
from shoal.anonymizer.claims import Evidence, Verdict, verify
from shoal.anonymizer.contract.literal import is_true
from shoal.anonymizer.contract.sample_logs import log_of
from shoal.anonymizer.methods.coherence import Coherence
from shoal.anonymizer.methods.coherence.literal import coherence
from shoal.anonymizer.publish import publish_own_sets
from shoal.corpus.knowledge import Knowledge
from shoal.corpus.profiles import build_profiles
from shoal.corpus.querylog import QueryLog
from tests.examples import examples

PRIVATE = frozenset({"cancer", "aids"})
words = st.sampled_from([*"wine beer cheese car truck hotel".split(), *PRIVATE])
logs = st.lists(st.lists(words, max_size=7).map(" ".join), min_size=1, max_size=12)
KNOWN = Knowledge()


def log_from(texts: list[str]) -> QueryLog:
    return log_of([(f"user{i}", text) for i, text in enumerate(texts)])


def verdict(made: Anonymized, log: QueryLog) -> Verdict:
    evidence = Evidence(made.release, made.assignment, made.suppressed, log, KNOWN)
    said = verify(made.claim, evidence)
    assert said.holds == is_true(made.claim, evidence)
    return said


@examples(150)
@given(logs, st.integers(2, 4), st.sampled_from([0, 0.4, 0.8, 1]), st.integers(1, 4))
def test_coherence_is_the_literal_algorithm_and_holds(texts: list[str], k: int, h: float, p: int) -> None:
    log = log_from(texts)
    made = Coherence(KNOWN, k=k, h=h, p=p).run(log)
    profiles = build_profiles(log, KNOWN.words)
    D = [frozenset(profiles.of(user)) for user in range(len(profiles))]
    slow = coherence(D, PRIVATE, Fraction(str(h)), k, p)
    fast = [frozenset[str]() for _ in D]
    for user, row in zip(made.assignment.user.tolist(), made.assignment.profile.tolist(), strict=True):
        fast[user] = frozenset(made.release.profile(row))
    assert fast == slow
    assert verdict(made, log).holds


TEXTS = [
    f"wine {'beer' if i < 6 else 'car'} {'truck' if i % 2 else ''} {'cancer' if i in (0, 7) else ''}" for i in range(12)
]


@pytest.fixture(scope="module")
def log() -> QueryLog:
    return log_from([*TEXTS, "hotel wine"])


@pytest.fixture(scope="module")
def made(log: QueryLog) -> Anonymized:
    return Coherence(KNOWN, k=3).run(log)


def test_a_rare_term_that_is_not_suppressed_is_seen(made: Anonymized, log: QueryLog) -> None:
    assert verdict(made, log).holds
    assert "hotel" not in made.release.labels
    profiles = build_profiles(log, KNOWN.words)
    everything = publish_own_sets(profiles, np.ones(len(profiles.terms), dtype=bool), made.claim)
    assert "'hotel' are in 1 rows, fewer than k=3" in verdict(everything, log).counterexample


def test_terms_whose_holders_share_a_secret_are_seen() -> None:
    log = log_from(["wine cancer", "wine cancer", "wine beer", *["beer"] * 3])
    profiles = build_profiles(log, KNOWN.words)
    claim = Coherence(KNOWN, k=2, h=0.6, p=1).claim()
    everything = publish_own_sets(profiles, np.ones(len(profiles.terms), dtype=bool), claim)
    assert "2 of the 3 rows with 'wine'" in verdict(everything, log).counterexample


def test_a_term_that_is_suppressed_of_some_or_typed_by_nobody_is_seen(made: Anonymized, log: QueryLog) -> None:
    weights = made.release.weights.toarray()
    column = made.release.labels.index("wine")
    weights[0, column] = 0
    partly = replace(made, release=replace(made.release, weights=csr_array(weights)))
    fewer = Suppressed(made.suppressed.occurrences + 1, made.suppressed.users)
    assert not verdict(replace(partly, suppressed=fewer), log).holds
    twice = made.release.weights.copy()
    twice.data[0] = 2
    assert not verdict(replace(made, release=replace(made.release, weights=twice)), log).holds


def test_a_secret_that_is_left_out_is_seen(made: Anonymized, log: QueryLog) -> None:
    profiles = build_profiles(log, KNOWN.words)
    kept = np.array([term in made.release.labels and term != "cancer" for term in profiles.terms])
    assert not verdict(publish_own_sets(profiles, kept, made.claim), log).holds
