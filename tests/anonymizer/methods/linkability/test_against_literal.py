"""Is the fast linkability the literal one, and does its verifier tell right from wrong?"""

from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array

from shoal.anonymizer.base import Anonymized, Assignment
from shoal.anonymizer.claims import Evidence, Verdict, verify
from shoal.anonymizer.claims.linkability import actual_linkability
from shoal.anonymizer.methods.linkability import Linkability
from shoal.anonymizer.methods.linkability.literal import Paths, linkability_groups
from shoal.anonymizer.publish import publish_centroids
from shoal.corpus.errors import InputError
from shoal.corpus.knowledge import Knowledge
from shoal.corpus.profiles import build_profiles
from shoal.corpus.querylog import QueryLog, make_log
from tests.examples import examples

KNOWLEDGE = Knowledge(dictionary_name="any")
# words of several senses, words that meet closely above, and one that WordNet does not know
WORDS = (
    "java coffee mocha island language c bank money river loan apple pear fruit computer mouse keyboard bat ball "
    "baseball cricket pup kitten dog cat star planet actor zzyzxq"
).split()


@pytest.fixture(scope="module")
def paths() -> Paths:
    return Paths(KNOWLEDGE)


queries = st.lists(st.sampled_from(WORDS), min_size=1, max_size=7).map(" ".join)
logs = st.lists(queries, min_size=2, max_size=14)


def log_of(texts: list[str]) -> QueryLog:
    return make_log(pl.Series([f"user{i}" for i in range(len(texts))]), pl.Series(texts))


def anonymized(method: Linkability, log: QueryLog, seed: int) -> Anonymized | None:
    try:
        return method.run(log, seed=seed)
    except InputError:
        return None


def verdict(made: Anonymized, log: QueryLog) -> Verdict:
    return verify(made.claim, Evidence(made.release, made.assignment, made.suppressed, log, KNOWLEDGE))


def groups_of(made: Anonymized) -> set[frozenset[int]]:
    return {
        frozenset(made.assignment.user[made.assignment.profile == row].tolist()) for row in range(len(made.release))
    }


@examples(150)
@given(
    texts=logs,
    p=st.sampled_from([1.0, 0.7, 0.4, 0.3, 0.15]),
    a=st.integers(0, 4),
    seed=st.integers(0, 99),
    first=st.sampled_from(["random", "furthest"]),
    members=st.integers(1, 3),
)
def test_groups_are_those_of_the_literal_algorithm(
    paths: Paths, texts: list[str], p: float, a: int, seed: int, first: str, members: int
) -> None:
    log = log_of(texts)
    made = anonymized(Linkability(KNOWLEDGE, p=p, a=a, first=first, members=members), log, seed)
    profiles = build_profiles(log, KNOWLEDGE.words)
    if made is None:
        too_few = len(profiles) < members or len(profiles.terms) < profiles.size.mean() / p - 1e-9
        assert too_few
        return
    drawn = int(np.random.default_rng(seed).integers(len(profiles)))
    bags = [profiles.of(user) for user in range(len(profiles))]
    literal = linkability_groups(bags, p, a, drawn, paths, members, first)
    assert groups_of(made) == {frozenset(group) for group in literal}


@examples(100)
@given(texts=logs, p=st.sampled_from([1.0, 0.5, 0.3]), seed=st.integers(0, 9), union=st.booleans())
def test_every_release_verifies(texts: list[str], p: float, seed: int, union: bool) -> None:
    log = log_of(texts)
    made = anonymized(Linkability(KNOWLEDGE, p=p, representative="union" if union else "centroid"), log, seed)
    if made is not None:
        assert verdict(made, log).holds
        actual = actual_linkability(build_profiles(log, KNOWLEDGE.words), made.assignment)
        assert 0 < actual.mean <= actual.largest + 1e-12 <= 1 + 1e-12
        assert 0 < actual.largest_share <= 1


@examples(60)
@given(texts=logs, seed=st.integers(0, 9))
def test_blocks_give_groups_that_hold_as_well(texts: list[str], seed: int) -> None:
    log = log_of(texts * 12)
    made = anonymized(Linkability(KNOWLEDGE, p=0.5, block=100), log, seed)
    if made is not None:
        assert verdict(made, log).holds


def honest() -> tuple[Anonymized, QueryLog]:
    rng = np.random.default_rng(5)
    log = log_of([" ".join(rng.choice(WORDS, 4, replace=False)) for _ in range(30)])
    made = Linkability(KNOWLEDGE, p=0.4).run(log)
    assert verdict(made, log).holds
    return made, log


def moved(made: Anonymized, row: int, to: int, recount: bool) -> Anonymized:
    """The release with the first member of a group assigned elsewhere; with `recount`, its counts made to fit."""
    profile = made.assignment.profile.copy()
    profile[np.flatnonzero(profile == row)[0]] = to
    assignment = Assignment(made.assignment.users, made.assignment.user, profile)
    users = np.bincount(profile, minlength=len(made.release)).astype(np.int64) if recount else made.release.users
    return replace(made, assignment=assignment, release=replace(made.release, users=users))


@pytest.mark.parametrize("recount", [False, True])
def test_a_member_moved_out_of_a_group_is_seen(recount: bool) -> None:
    made, log = honest()
    seen = verdict(moved(made, 0, 1, recount), log)
    assert not seen.holds
    assert seen.counterexample


def test_a_group_with_too_few_terms_is_seen_even_if_its_centroid_is_true() -> None:
    made, log = honest()
    profiles = build_profiles(log, KNOWLEDGE.words)
    group = np.arange(len(profiles)) // 2  # pairs: 8 terms at most, but 4 / 0.4 = 10 are needed
    seen = verdict(publish_centroids(profiles, group, made.claim), log)
    assert not seen.holds
    assert "distinct terms" in seen.counterexample


def test_a_term_that_leaks_is_seen() -> None:
    made, log = honest()
    weights = made.release.weights.toarray()
    row, column = np.argwhere(weights == 0)[0]
    weights[row, column] = 1
    leaked = replace(made, release=replace(made.release, weights=csr_array(weights)))
    seen = verdict(leaked, log)
    assert not seen.holds
    assert made.release.labels[column] in seen.counterexample


def test_a_union_sold_as_a_centroid_is_seen() -> None:
    made, log = honest()
    claim = replace(made.claim, values={**made.claim.values, "representative": "union"})
    assert not verdict(replace(made, claim=claim), log).holds


def test_a_claim_of_more_members_than_there_are_is_seen() -> None:
    made, log = honest()
    claim = replace(made.claim, values={**made.claim.values, "members": 29})
    seen = verdict(replace(made, claim=claim), log)
    assert not seen.holds
    assert "fewer than" in seen.counterexample
