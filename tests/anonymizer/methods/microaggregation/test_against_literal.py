"""Does the fast microaggregation do what the literal one does, on many random logs?"""

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array

from shoal.anonymizer.claims import Evidence, verify
from shoal.anonymizer.methods.microaggregation import Microaggregation, chosen_copies, literal, quotas, similar_clusters
from shoal.anonymizer.methods.microaggregation.similar_clusters import (
    Incidence,
    join_most_similar,
    make_incidence,
    partition,
    partition_in_blocks,
)
from shoal.corpus.errors import Cancelled
from shoal.corpus.knowledge import Knowledge
from shoal.corpus.knowledge.directory import classification_matrices
from shoal.corpus.profiles import build_profiles
from shoal.corpus.querylog import QueryLog, make_log
from tests.examples import examples

WORDS = "dog cat wolf wine beer bread violin piano river lake algebra qwzx".split()
queries = st.lists(st.sampled_from(WORDS), min_size=1, max_size=3)
logs = st.lists(st.lists(queries, min_size=1, max_size=6), min_size=2, max_size=12)
KNOWN = Knowledge()


def as_log(users: list[list[list[str]]]) -> QueryLog:
    rows = [(f"u{u}", " ".join(query)) for u, asked in enumerate(users) for query in asked]
    return make_log(pl.Series([user for user, _ in rows]), pl.Series([query for _, query in rows]))


def clusters(cluster: np.ndarray) -> set[frozenset[int]]:
    return {frozenset(np.flatnonzero(cluster == z).tolist()) for z in range(cluster.max() + 1)}


@examples(100)
@given(users=logs, k=st.integers(2, 4), levels=st.integers(1, 6), categories=st.integers(1, 5))
def test_incidence_and_clusters_are_those_of_the_pseudo_code(
    users: list[list[list[str]]], k: int, levels: int, categories: int
) -> None:
    expected = literal.incidence_matrix(users, KNOWN.directory, levels, categories)
    profiles = build_profiles(as_log(users), KNOWN.words)
    made = make_incidence(classification_matrices(profiles, KNOWN.directory, levels, categories))
    assert made.rows(0, len(users)).tolist() == expected
    if len(users) >= k:
        found = join_most_similar(made, partition(made, k))
        assert clusters(found) == {frozenset(z) for z in literal.partition(expected, k)}


matrices = st.integers(0, 2**32 - 1).map(
    lambda seed: csr_array(np.random.default_rng(seed).poisson(0.6, (40, 12)).astype(np.int32))
)


@examples(40)
@given(categories=matrices, k=st.integers(2, 7))
def test_rows_computed_when_asked_for_give_the_clusters_of_the_kept_matrix(categories: csr_array, k: int) -> None:
    kept = partition(Incidence(categories), k)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(similar_clusters, "KEPT_USERS", 5)
        assert partition(Incidence(categories), k).tolist() == kept.tolist()


@examples(40)
@given(categories=matrices, k=st.integers(2, 7), block=st.integers(2, 30))
def test_blocks_leave_fewer_than_k_users_and_make_clusters_of_k(categories: csr_array, k: int, block: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(similar_clusters, "BLOCK_USERS", block)
        cluster = partition_in_blocks(categories, k)
    assert (cluster < 0).sum() == 40 % k
    assert set(np.bincount(cluster[cluster >= 0]).tolist()) == {k}


@examples(100)
@given(sizes=st.lists(st.integers(1, 30), min_size=2, max_size=6), seed=st.integers(0, 999))
def test_quotas_are_the_literal_ones(sizes: list[int], seed: int) -> None:
    tie = np.random.default_rng(seed).random(len(sizes))
    fast = quotas(np.array(sizes), np.zeros(len(sizes), dtype=np.int64), tie)
    assert fast.tolist() == literal.whole_quotas(sizes, tie.tolist())


@examples(100)
@given(
    repetitions=st.lists(st.integers(1, 9), min_size=1, max_size=8),
    others=st.integers(1, 60),
    share=st.floats(0, 1),
    seed=st.integers(0, 999),
)
def test_the_queries_of_a_user_enter_as_in_algorithm_5(
    repetitions: list[int], others: int, share: float, seed: int
) -> None:
    repetitions = sorted(repetitions, reverse=True)
    size = sum(repetitions)
    quota = round(share * size)
    chance = np.random.default_rng(seed).random(len(repetitions))
    fast = chosen_copies(
        np.array([0, len(repetitions)]), np.array(repetitions), np.array([size]), np.array([size + others]),
        np.array([quota]), chance,
    )  # fmt: skip
    assert fast.tolist() == literal.centroid_part(repetitions, size, size + others, quota, chance.tolist())


@examples(60)
@given(users=logs, k=st.integers(2, 4), seed=st.integers(0, 99), search=st.sampled_from(["auto", "exact", "blocks"]))
def test_every_release_is_accepted_by_the_verifier_and_the_same_for_the_same_seed(
    users: list[list[list[str]]], k: int, seed: int, search: str
) -> None:
    log = as_log(users)
    if (build_profiles(log, KNOWN.words).size > 0).sum() < k:
        return
    method = Microaggregation(KNOWN, k=k, search=search)
    made = method.anonymize(log, seed=seed)
    verdict = verify(made.claim, Evidence(made.release, made.assignment, made.suppressed, log, KNOWN))
    assert verdict.holds, verdict.counterexample
    again = method.anonymize(log, seed=seed)
    assert (again.release.weights != made.release.weights).nnz == 0
    assert again.assignment.profile.tolist() == made.assignment.profile.tolist()


@pytest.mark.parametrize("stage", ["looking up topics", "comparing users", "grouping similar users", "left over"])
def test_it_can_be_cancelled_at_every_stage(stage: str) -> None:
    log = as_log([[[WORDS[u % 11]], [WORDS[u % 7]]] for u in range(20)])

    def stop(done: int, total: int, at: str) -> None:
        if stage in at:
            raise Cancelled

    with pytest.raises(Cancelled):
        Microaggregation(KNOWN, k=3).anonymize(log, progress=stop)
