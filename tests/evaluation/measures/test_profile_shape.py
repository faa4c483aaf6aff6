"""Are length, level and the topics that remain those worked by hand?"""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from shoal.anonymizer.registry import make_method
from shoal.corpus.knowledge import Knowledge
from shoal.corpus.profiles import Profiles, build_profiles
from shoal.corpus.querylog import make_log
from shoal.evaluation.measures.profile_shape import mean_length, mean_level
from shoal.evaluation.measures.semantic_remain import srp

CLUMP = [({"Fruit": 1, "beef": 1, "Food": 1}, ["t1", "t2"]), ({"chicken": 1, "Food": 1}, ["t3", "t4", "t5"])]


def test_length_and_level_count_a_profile_for_each_of_its_users(
    food: Knowledge, release_of: Callable[..., Any]
) -> None:
    release, _ = release_of(CLUMP)
    assert mean_length(release) == pytest.approx((2 * 3 + 3 * 2) / 5)
    # Food is at level 1, Fruit at 2, beef and chicken at 3.
    assert mean_level(release, food.taxonomy) == pytest.approx((2 * (2 + 3 + 1) + 3 * (3 + 1)) / (2 * 3 + 3 * 2))


def test_an_item_counts_as_often_as_it_is_published(food: Knowledge, release_of: Callable[..., Any]) -> None:
    release, _ = release_of([({"Food": 3, "beef": 1}, ["a"])])
    assert (mean_length(release), mean_level(release, food.taxonomy)) == (4, (3 * 1 + 3) / 4)


def test_a_bag_is_where_its_members_meet_and_a_strange_term_nowhere(
    food: Knowledge, release_of: Callable[..., Any]
) -> None:
    release, _ = release_of([({"apple|orange": 1, "apple|beef": 1, "zebra": 7}, ["a"])])
    assert mean_level(release, food.taxonomy) == (2 + 1) / 2
    assert mean_level(release_of([({"zebra": 7}, ["a"])])[0], food.taxonomy) is None
    assert mean_length(release_of([])[0]) == 0.0


@pytest.mark.parametrize("at_once", [1, 4_000_000])
def test_topics_remain_level_by_level(
    at_once: int,
    food: Knowledge,
    release_of: Callable[..., Any],
    profiles_of: Callable[..., Profiles],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("shoal.evaluation.measures.semantic_remain._ENTRIES", at_once)
    release, assignment = release_of([({"apple": 1, "beef": 1}, ["a", "b"])])
    profiles = profiles_of({"a": "apple apple beef", "b": "orange", "c": "milk"}, food)
    # Fruit, Meat, Dairy: a keeps 1 of 2 fruits and the meat, b the fruit, c has no profile. Then the terms themselves.
    assert srp(release, assignment, profiles, food, levels=2) == pytest.approx(
        [(2 / 3 + 1 + 0) / 3, (2 / 3 + 0 + 0) / 3]
    )


def test_users_with_nothing_in_common_keep_one_in_k(food: Knowledge) -> None:
    """Equation 5: the centroid log holds one query of each of two users who asked two in a topic of their own."""
    users = ["a", "a", "b", "b"]
    log = make_log(pl.Series(users), pl.Series(["apple", "apple", "beef", "beef"]))
    made = make_method("microaggregation", {"k": 2}, food).anonymize(log)
    profiles = build_profiles(log, food.words)
    assert srp(made.release, made.assignment, profiles, food, levels=2) == pytest.approx([1 / 2, 1 / 2])


def test_topics_are_read_again_when_the_file_changes_under_its_name(
    tmp_path: Path, release_of: Callable[..., Any], profiles_of: Callable[..., Profiles]
) -> None:
    release, assignment = release_of([({"apple": 1}, ["a"])])
    shares = []
    for pear in ("fruit", "tree"):
        path = tmp_path / "topics.tsv"
        path.write_text(f"fruit\tapple\tapple\n{pear}\tpear\tpear\n")
        known = Knowledge(directory_file=path)
        shares.append(srp(release, assignment, profiles_of({"a": "pear"}, known), known, levels=1))
    assert shares == [[1], [0]]


def test_a_level_that_no_term_reaches_has_no_share(
    food: Knowledge, release_of: Callable[..., Any], profiles_of: Callable[..., Profiles]
) -> None:
    release, assignment = release_of([({"apple": 1}, ["a"])])
    assert srp(release, assignment, profiles_of({"a": "apple"}, food), food, levels=3) == [1, 1, None]


def test_the_original_keeps_every_topic(food: Knowledge, profiles_of: Callable[..., Profiles]) -> None:
    profiles = profiles_of({"a": "apple apple beef", "b": "orange"}, food)
    made = make_method("original", {}, food).anonymize(profiles)
    assert srp(made.release, made.assignment, profiles, food, levels=2) == [1.0, 1.0]
