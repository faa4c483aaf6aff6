"""Does what is published tell nothing but the profiles?"""

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array

from shoal.anonymizer.base import Anonymized, Claim, ReleasedQueries, Suppressed
from shoal.anonymizer.publish import pseudonyms, publish, publish_centroids
from shoal.corpus.profiles import Profiles
from tests.examples import examples

CLAIM = Claim("users-per-profile", {"k": 2})


def profiles_of(rows: list[list[int]]) -> Profiles:
    users = pl.Series([f"user{i}" for i in range(len(rows))])
    return Profiles(users, [f"term{t}" for t in range(len(rows[0]))], csr_array(np.array(rows)))


def rows_of(made: Anonymized) -> list[dict[str, float]]:
    return [made.release.profile(row) for row in range(len(made.release))]


def test_a_centroid_is_the_mean_and_a_union_the_sum_of_its_members() -> None:
    profiles = profiles_of([[2, 0, 1], [0, 0, 3], [5, 5, 5]])
    group = np.array([0, 0, -1])
    assert rows_of(publish_centroids(profiles, group, CLAIM)) == [{"term0": 1, "term2": 2}]
    assert rows_of(publish_centroids(profiles, group, CLAIM, union=True)) == [{"term0": 2, "term2": 4}]


def test_who_takes_no_part_is_counted_with_all_they_typed() -> None:
    made = publish_centroids(profiles_of([[2, 0], [0, 1], [4, 5]]), np.array([0, 0, -1]), CLAIM)
    assert made.suppressed == Suppressed(occurrences=9, users=1)
    assert made.assignment.user.tolist() == [0, 1]
    assert made.release.users.tolist() == [2]


def test_a_term_of_nobody_in_a_group_is_not_in_the_vocabulary() -> None:
    made = publish_centroids(profiles_of([[2, 0], [1, 0], [0, 7]]), np.array([0, 0, -1]), CLAIM)
    assert made.release.labels == ["term0"]


def test_pseudonyms_are_as_many_and_as_long_as_needed() -> None:
    assert pseudonyms(2) == ["p0001", "p0002"]
    assert pseudonyms(12345)[-1] == "p12345"
    assert pseudonyms(12345)[0] == "p00001"


@examples(60)
@given(st.lists(st.lists(st.integers(0, 3), min_size=4, max_size=4), min_size=2, max_size=12), st.randoms())
def test_the_order_of_users_does_not_show_in_the_release(rows: list[list[int]], random: object) -> None:
    shuffled = list(rows)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    made = [
        publish_centroids(profiles_of(some), np.where(np.sum(some, axis=1) > 0, np.arange(len(some)), -1), CLAIM)
        if all(map(any, some))
        else None
        for some in (rows, shuffled)
    ]
    if made[0] is not None and made[1] is not None:
        assert rows_of(made[0]) == rows_of(made[1])


def published_queries(order: list[int]) -> list[tuple[str, str]]:
    """Users with equal (empty) profiles but different queries, in a given order of the log."""
    texts = pl.Series([f"zz{i}" for i in order])
    count = len(order)
    rows = np.arange(count, dtype=np.int32)
    queries = ReleasedQueries(rows, texts, np.ones(count, dtype=np.int64), np.full(count, 5))
    users = pl.Series([f"user{i}" for i in order])
    empty = csr_array((count, 0), dtype=float)
    release = publish(users, (rows, rows), empty, [], CLAIM, Suppressed(), queries=queries).release
    assert release.queries is not None
    names = [release.pseudonyms[i] for i in release.queries.pseudonym]
    return list(zip(names, release.queries.query.to_list(), strict=True))


def test_equal_profiles_with_different_queries_do_not_follow_the_order_of_the_log() -> None:
    forward, backward = published_queries(list(range(20))), published_queries(list(range(19, -1, -1)))
    assert forward == backward
    assert [query for _, query in forward] != [f"zz{i}" for i in range(20)]


def test_queries_keep_their_pseudonym_and_numbers() -> None:
    queries = ReleasedQueries(
        np.array([1, 0, 1], dtype=np.int32), pl.Series(["b", "a", "a"]), np.array([3, 1, 2]), np.array([7, 8, 9])
    )
    two = np.arange(2, dtype=np.int32)
    weights = csr_array(np.array([[1.0, 0.0], [0.0, 2.0]]))
    made = publish(pl.Series(["x", "y"]), (two, two), weights, ["one", "two"], CLAIM, Suppressed(), queries=queries)
    release = made.release
    assert release.queries is not None
    by_label = {tuple(release.profile(row)): row for row in range(2)}
    found = set(
        zip(
            release.queries.pseudonym.tolist(),
            release.queries.query.to_list(),
            release.queries.count.tolist(),
            release.queries.degree.tolist(),
            strict=True,
        )
    )
    first, second = by_label[("one",)], by_label[("two",)]
    assert found == {(second, "b", 3, 7), (first, "a", 1, 8), (second, "a", 2, 9)}
    assert made.assignment.profile.tolist() == [first, second]


def test_generalized_flags_follow_their_labels() -> None:
    weights = csr_array(np.array([[0.0, 1.0, 2.0]]))
    one = np.zeros(1, dtype=np.int32)
    flags = np.array([True, False, True])
    made = publish(pl.Series(["x"]), (one, one), weights, ["a", "b", "c"], CLAIM, Suppressed(), generalized=flags)
    assert made.release.labels == ["b", "c"]
    assert made.release.generalized.tolist() == [False, True]


def test_a_row_without_members_has_no_users() -> None:
    one = np.zeros(1, dtype=np.int32)
    weights = csr_array(np.array([[1.0], [2.0]]))
    made = publish(pl.Series(["x"]), (one, one), weights, ["a"], CLAIM, Suppressed())
    assert sorted(made.release.users.tolist()) == [0, 1]


@pytest.mark.parametrize("count", [0, 1])
def test_an_empty_release_is_a_release(count: int) -> None:
    nobody = np.empty(0, dtype=np.int32)
    made = publish(pl.Series(["x"] * count), (nobody, nobody), csr_array((0, 0)), [], CLAIM, Suppressed(0, count))
    assert len(made.release) == 0
    assert made.release.labels == []
