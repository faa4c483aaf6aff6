"""Is the fast Common the literal one, and does its verifier tell right from wrong?"""

from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array

from shoal.anonymizer.base import Anonymized, Assignment, Claim
from shoal.anonymizer.claims import Evidence, Verdict, verify
from shoal.anonymizer.contract.literal import is_true
from shoal.anonymizer.contract.sample_logs import sample_log
from shoal.anonymizer.methods import common
from shoal.anonymizer.methods.common import Common
from shoal.anonymizer.methods.common.groups import unit_vectors
from shoal.anonymizer.methods.common.literal import common_groups, vectors_of, within
from shoal.anonymizer.publish import publish_centroids
from shoal.corpus.errors import InputError
from shoal.corpus.knowledge import Knowledge
from shoal.corpus.profiles import Profiles, build_profiles
from shoal.corpus.progress import silent
from shoal.corpus.querylog import QueryLog, make_log
from tests.examples import examples

KNOWLEDGE = Knowledge(dictionary_name="any")
queries = st.lists(st.sampled_from("wine beer cheese car truck hotel flight dog".split()), max_size=8).map(" ".join)
logs = st.lists(queries, min_size=2, max_size=16)


def log_of(texts: list[str]) -> QueryLog:
    return make_log(pl.Series([f"user{i}" for i in range(len(texts))]), pl.Series(texts, dtype=pl.String))


def verdict(made: Anonymized, log: QueryLog) -> Verdict:
    return verify(made.claim, evidence(made, log))


def evidence(made: Anonymized, log: QueryLog) -> Evidence:
    return Evidence(made.release, made.assignment, made.suppressed, log, KNOWLEDGE)


def groups_of(made: Anonymized) -> set[frozenset[int]]:
    rows = range(len(made.release))
    return {frozenset(made.assignment.user[made.assignment.profile == row].tolist()) for row in rows}


def literal_groups(method: Common, profiles: Profiles, seed: int) -> set[frozenset[int]]:
    """By the literal reference, within the blocks and in the order that the seed gives."""
    vectors = unit_vectors(profiles.counts, method.t)
    users = np.flatnonzero(np.diff(vectors.indptr))
    slow = vectors_of([profiles.of(user) for user in range(len(profiles))], method.t)
    groups: set[frozenset[int]] = set()
    for rows in method.blocks(csr_array(vectors[users]), np.random.default_rng(seed), silent):
        block = users[rows].tolist()
        found = common_groups([slow[user] for user in block], method.k)
        groups |= {frozenset(block[place] for place in group) for group in found}
    return groups


@examples(300)
@given(logs, st.integers(2, 4), st.integers(1, 4), st.integers(0, 3))
def test_common_is_the_literal_algorithm_and_holds(texts: list[str], k: int, t: int, seed: int) -> None:
    log, method = log_of(texts), Common(KNOWLEDGE, k=k, t=min(k, t))
    try:
        made = method.run(log, seed=seed)
    except InputError:
        return
    profiles = build_profiles(log, KNOWLEDGE.words)
    assert groups_of(made) == literal_groups(method, profiles, seed)
    assert made.release.users.min() >= k
    assert verdict(made, log).holds
    assert is_true(made.claim, evidence(made, log))
    holders = [made.release.profile(row) for row in range(len(made.release))]
    for row, profile in enumerate(holders):
        members = made.assignment.user[made.assignment.profile == row].tolist()
        for term, weight in profile.items():
            counts = [profiles.of(user).get(term, 0) for user in members]
            assert np.count_nonzero(counts) >= method.t
            assert weight == sum(counts) / len(members)


def test_in_blocks_it_is_the_literal_algorithm_on_each_and_loses_no_group(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(common, "EXACT_UP_TO", 40)
    monkeypatch.setattr(common, "BLOCK", 16)
    log, method = sample_log(53), Common(KNOWLEDGE, k=3, t=2)
    made = method.run(log, seed=4)
    assert groups_of(made) == literal_groups(method, build_profiles(log, KNOWLEDGE.words), 4)
    assert len(made.release) == 53 // 3
    assert verdict(made, log).holds


def test_two_kinds_of_people_make_two_groups_that_publish_what_three_of_four_used() -> None:
    drinkers = ["wine wine beer", "wine beer cheese", "wine beer dog", "wine flight"]
    drivers = ["car truck", "car truck wine", "car truck truck hotel", "car hotel"]
    texts = [text for pair in zip(drinkers, drivers, strict=True) for text in pair]
    made = Common(KNOWLEDGE, k=4, t=3).run(log_of(texts))
    assert groups_of(made) == {frozenset((0, 2, 4, 6)), frozenset((1, 3, 5, 7))}
    profiles = [made.release.profile(row) for row in range(2)]
    assert {"wine": 1.25, "beer": 0.75} in profiles
    assert {"car": 1.0, "truck": 1.0} in profiles
    assert made.suppressed.occurrences == 6  # cheese, dog, flight, wine of a driver, hotel twice


def test_vectors_are_those_of_the_literal_one() -> None:
    profiles = build_profiles(sample_log(), KNOWLEDGE.words)
    slow = vectors_of([profiles.of(user) for user in range(len(profiles))], 4)
    fast = Profiles(profiles.users, profiles.terms, unit_vectors(profiles.counts, 4))
    assert [fast.of(user) for user in range(len(profiles))] == slow


@examples(100)
@given(logs, st.integers(2, 3))
def test_no_exchange_of_two_users_is_left_that_makes_groups_more_alike(texts: list[str], k: int) -> None:
    profiles = build_profiles(log_of(texts), KNOWLEDGE.words)
    vectors = [v for v in vectors_of([profiles.of(u) for u in range(len(profiles))], 1) if v]
    groups = common_groups(vectors, k) if len(vectors) >= k else []
    before = sum(within(group, vectors) for group in groups)
    for here in groups:
        for there in groups:
            for i, user in enumerate(here):
                for j, other in enumerate(there):
                    here[i], there[j] = other, user
                    assert sum(within(group, vectors) for group in groups) <= before
                    here[i], there[j] = user, other


# Broken releases


def honest() -> tuple[Anonymized, QueryLog]:
    log = sample_log()
    return Common(KNOWLEDGE, k=4, t=3).run(log), log


def remade(group: np.ndarray, log: QueryLog, claim: Claim, holders: int) -> Anonymized:
    return publish_centroids(build_profiles(log, KNOWLEDGE.words), group, claim, holders=holders)


def group_of(made: Anonymized, users: int) -> np.ndarray:
    group = np.full(users, -1)
    group[made.assignment.user] = made.assignment.profile
    return group


def test_an_honest_release_is_accepted_and_says_what_was_checked() -> None:
    made, log = honest()
    found = verdict(made, log)
    assert found.holds
    assert "at least 4 users" in found.sentence
    assert "at least 3 of them used" in found.sentence


def test_a_term_of_too_few_members_is_seen() -> None:
    made, log = honest()
    seen = verdict(remade(group_of(made, len(log.users)), log, made.claim, holders=2), log)
    assert "2 of its members used, fewer than t=3" in seen.counterexample


def test_a_term_that_is_held_back_is_seen() -> None:
    made, log = honest()
    seen = verdict(remade(group_of(made, len(log.users)), log, made.claim, holders=4), log)
    assert "but the terms of at least 3 of its members make" in seen.counterexample


def test_a_group_under_k_is_seen() -> None:
    made, log = honest()
    group = group_of(made, len(log.users))
    group[np.flatnonzero(group == 0)[0]] = 1
    assert "fewer than k=4" in verdict(remade(group, log, made.claim, holders=3), log).counterexample


def test_another_mean_and_two_exchanged_members_are_seen() -> None:
    made, log = honest()
    doubled = replace(made.release, weights=csr_array(made.release.weights * 2))
    assert "with weight" in verdict(replace(made, release=doubled), log).counterexample
    profile = made.assignment.profile.copy()
    one, other = np.flatnonzero(profile == 0)[0], np.flatnonzero(profile == 1)[0]
    profile[[one, other]] = profile[[other, one]]
    exchanged = Assignment(made.assignment.users, made.assignment.user, profile)
    assert not verdict(replace(made, assignment=exchanged), log).holds


def test_a_wrong_count_of_what_was_suppressed_is_seen() -> None:
    made, log = honest()
    fewer = replace(made.suppressed, occurrences=made.suppressed.occurrences - 1)
    assert "stand in no profile" in verdict(replace(made, suppressed=fewer), log).counterexample


@pytest.mark.parametrize("values", [{"k": 1, "t": 1}, {"k": 4}, *({"k": 4, "t": t} for t in (0, 3.0, "3", None, True))])
def test_values_of_another_type_or_range_are_bad_input(values: dict[str, object]) -> None:
    made, log = honest()
    with pytest.raises(InputError, match="make the release again"):
        verdict(replace(made, claim=Claim("terms-in-common", values)), log)  # type: ignore[arg-type]


def test_more_holders_than_members_are_refused_before_the_run() -> None:
    with pytest.raises(InputError, match="t=4 is more than k=3"):
        Common(KNOWLEDGE, k=3)
