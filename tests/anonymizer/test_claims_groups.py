"""Do the verifiers of groups tell a true release from its broken twins?"""

from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array

from shoal.anonymizer.base import Anonymized, Assignment, Claim, Suppressed
from shoal.anonymizer.claims import Evidence, Verdict, collect, verifiers, verify
from shoal.anonymizer.contract.edits import mutants
from shoal.anonymizer.contract.sample_logs import log_of, sample_log
from shoal.anonymizer.registry import make_method
from shoal.corpus.errors import InputError
from shoal.corpus.knowledge import Knowledge
from shoal.corpus.profiles import build_profiles
from shoal.corpus.querylog import QueryLog
from tests.examples import examples

LOG = sample_log(20)
KNOWLEDGE = Knowledge()


def made(id: str, log: QueryLog = LOG, **settings: object) -> Anonymized:
    return make_method(id, settings, KNOWLEDGE).run(log)


def verdict(release: Anonymized, log: QueryLog = LOG) -> Verdict:
    evidence = Evidence(release.release, release.assignment, release.suppressed, log, KNOWLEDGE)
    return verify(release.claim, evidence)


def with_weight(release: Anonymized, weight: float) -> Anonymized:
    weights = csr_array(release.release.weights.copy())
    weights.data[3] = weight
    return replace(release, release=replace(release.release, weights=weights))


@pytest.mark.parametrize("id", ["plain", "original", "everyone", "random"])
def test_a_true_release_holds_and_its_mutants_do_not(id: str) -> None:
    release = made(id)
    assert verdict(release).holds
    for what, mutant in mutants(release).items():
        seen = verdict(mutant)
        assert not seen.holds, what
        assert seen.counterexample


words = st.sampled_from(["wine", "cheese", "car", "dog", "hotel", "qxqxq"])


@examples(60)
@given(st.lists(st.lists(words, min_size=1, max_size=4).map(" ".join), min_size=1, max_size=12), st.integers(2, 4))
def test_every_release_of_the_controls_holds(texts: list[str], k: int) -> None:
    log = log_of([(f"user{i}", text) for i, text in enumerate(texts)])
    for id, settings_ in (("plain", {}), ("original", {}), ("everyone", {}), ("random", {"k": k})):
        try:
            release = made(id, log, **settings_)
        except InputError:
            continue
        assert verdict(release, log).holds


@pytest.mark.parametrize("weight", [float("nan"), float("inf"), 0.0, -1.0, 1e-9, 2.5])
def test_a_changed_weight_is_seen_whatever_it_is(weight: float) -> None:
    seen = verdict(with_weight(made("random"), weight))
    assert not seen.holds
    assert "weight" in seen.counterexample


def test_a_group_under_k_is_seen() -> None:
    release = made("random", k=4)
    claim = Claim("users-per-profile", {"k": 6})
    assert "fewer than k=6" in verdict(replace(release, claim=claim)).counterexample


def test_a_user_in_two_groups_is_seen() -> None:
    release = made("random")
    user = np.append(release.assignment.user, release.assignment.user[0])
    other = (release.assignment.profile[0] + 1) % len(release.release)
    profile = np.append(release.assignment.profile, other)
    twice = replace(release, assignment=Assignment(release.assignment.users, user, profile))
    assert "is in 2 groups" in verdict(twice).counterexample


def test_a_user_whom_the_log_does_not_have_is_seen() -> None:
    release = made("random")
    users = pl.Series(["stranger", *release.assignment.users.to_list()[1:]])
    strange = replace(release, assignment=replace(release.assignment, users=users))
    assert "'stranger'" in verdict(strange).counterexample


def test_two_members_exchanged_are_seen() -> None:
    release = made("random")
    profile = release.assignment.profile.copy()
    first, second = 0, int(np.flatnonzero(profile != profile[0])[0])
    profile[[first, second]] = profile[[second, first]]
    assert not verdict(replace(release, assignment=replace(release.assignment, profile=profile))).holds


def test_a_term_said_to_be_generalized_is_seen() -> None:
    release = made("random")
    flags = release.release.generalized.copy()
    flags[0] = True
    seen = verdict(replace(release, release=replace(release.release, generalized=flags)))
    assert "said to be generalized" in seen.counterexample


def test_a_group_filled_with_a_user_without_a_profile_is_seen() -> None:
    log = log_of([("ann", "wine"), ("bob", "qxqxq")])
    release = made("everyone", log)
    filled = replace(
        release,
        assignment=Assignment(release.assignment.users, np.array([0, 1]), np.array([0, 0])),
        release=replace(release.release, users=np.array([2])),
        suppressed=Suppressed(),
    )
    assert "has no profile" in verdict(filled, log).counterexample


def test_a_wrong_count_of_what_was_suppressed_is_seen() -> None:
    for id in ("plain", "random"):
        release = made(id)
        occurrences = replace(release.suppressed, occurrences=release.suppressed.occurrences + 3)
        assert "suppressed occurrences" in verdict(replace(release, suppressed=occurrences)).counterexample
        users = replace(release.suppressed, users=release.suppressed.users + 1)
        assert "have no profile" in verdict(replace(release, suppressed=users)).counterexample


@pytest.mark.parametrize("id", ["original", "everyone"])
def test_a_user_left_out_is_seen_where_all_should_take_part(id: str) -> None:
    part = made(id, LOG.for_users(np.arange(1, len(LOG.users))))
    typed = int(build_profiles(LOG, KNOWLEDGE.words).occurrences[0])
    left_out = replace(part, suppressed=Suppressed(part.suppressed.occurrences + typed, part.suppressed.users + 1))
    assert "but no published one" in verdict(left_out).counterexample


def test_two_users_who_share_a_profile_have_no_own_one() -> None:
    release = replace(made("random", k=2), claim=Claim("none"))
    assert "a profile of their own" in verdict(release).counterexample


def test_a_mean_is_compared_to_its_last_digit() -> None:
    release = made("random", k=3)
    thirds = np.flatnonzero(release.release.weights.data % 1)
    weights = csr_array(release.release.weights.copy())
    exact = weights.data[thirds[0]]
    for weight, true in ((exact, True), (float(f"{exact:.9g}"), True), (exact + 1e-9, False), (exact + 1e-12, False)):
        weights.data[thirds[0]] = weight
        assert verdict(replace(release, release=replace(release.release, weights=weights))).holds is true


def test_more_than_one_profile_is_not_one() -> None:
    release = replace(made("random"), claim=Claim("one-profile"))
    assert "should share one" in verdict(release).counterexample


def test_a_claim_without_a_verifier_or_without_its_values_is_bad_input() -> None:
    release = made("random")
    with pytest.raises(InputError, match="no verifier for the claim 'magic': known are"):
        verdict(replace(release, claim=Claim("magic")))
    with pytest.raises(InputError, match="says nothing of 'k'"):
        verdict(replace(release, claim=Claim("users-per-profile")))


@pytest.mark.parametrize("k", [1, 0, -3, 5.0, 5.9, True, "5", "two", float("nan"), 10**9, None, [5]])
def test_a_value_of_another_type_or_out_of_its_range_is_bad_input(k: object) -> None:
    claim = Claim("users-per-profile", {"k": k})  # type: ignore[dict-item]
    with pytest.raises(InputError, match=r"says k=.*, expected a whole number from 2 to 1,000,000"):
        verdict(replace(made("random"), claim=claim))


def test_a_value_that_the_claim_does_not_have_is_bad_input() -> None:
    for more in ({"unit": "session"}, {"statement": "At least 1000 users."}):
        with pytest.raises(InputError, match="the claim users-per-profile has no value"):
            verdict(replace(made("random"), claim=Claim("users-per-profile", {"k": 5, **more})))


def test_the_verifier_writes_the_sentence_from_the_values_that_it_checked() -> None:
    release = made("random", k=4)
    assert verdict(release).sentence == "Every profile is shared by at least 4 users, and is the mean of theirs."
    broken = verdict(replace(release, claim=Claim("users-per-profile", {"k": 6})))
    assert broken.sentence == "Every profile is shared by at least 6 users, and is the mean of theirs."


def test_two_verifiers_for_one_claim_and_what_is_no_verifier_are_errors() -> None:
    known = list(verifiers().values())
    with pytest.raises(InputError, match="two verifiers for the claim 'none'"):
        collect([*known, replace(verifiers()["none"])])
    with pytest.raises(InputError, match=r"is no anonymizer\.claims\.Verifier"):
        collect([*known, lambda claim, evidence: None])  # type: ignore[list-item]
