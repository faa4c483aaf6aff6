"""Are distortion, bLM and NCP those of the papers' examples, worked by hand?"""

from collections.abc import Callable
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.anonymizer.base import Assignment, Claim, Release
from shoal.anonymizer.contract.sample_logs import sample_log
from shoal.anonymizer.registry import make_method
from shoal.corpus.errors import InputError
from shoal.corpus.knowledge import Knowledge
from shoal.corpus.profiles import Profiles, build_profiles
from shoal.corpus.querylog import make_log
from shoal.evaluation.measures import occurrences
from shoal.evaluation.measures.losses import OtherWords, bLM, distortion, ncp
from shoal.evaluation.measures.occurrences import stand
from shoal.evaluation.measures.release import MeasuredRelease, measure_release
from tests.examples import examples

TABLE_5_1 = {
    "t1": "orange chicken beef", "t2": "banana beef cheese", "t3": "chicken milk butter", "t4": "apple chicken",
    "t5": "chicken beef",
}  # fmt: skip
CLUMP = [({"Fruit": 1, "beef": 1, "Food": 1}, ["t1", "t2"]), ({"chicken": 1, "Food": 1}, ["t3", "t4", "t5"])]
PARTITION = [({"Fruit": 1, "Meat": 1}, ["t1", "t4"]), ({"Food": 1}, ["t2", "t3", "t5"])]
VOCABULARIES = {
    "t1": "wine wine jackets boots", "t2": "vino vino jackets shoes", "t3": "wine vino raw-milk jackets shoes",
    "t4": "vino raw-milk raw-milk homo-milk", "t5": "raw-milk homo-milk homo-milk jackets pants",
}  # fmt: skip

Made = tuple[Release, Assignment]


def losses(made: Made, profiles: Profiles, knowledge: Knowledge) -> tuple[float, float, float]:
    """GGD in total, bLM and NCP per occurrence."""
    release, assignment = made
    standing = stand(release, assignment, profiles, knowledge)
    tree = knowledge.taxonomy
    return distortion(standing, release, tree), bLM(standing, tree), ncp(standing, release, tree, OtherWords())


def test_clump_on_table_5_1(food: Knowledge, release_of: Callable[..., Made], profiles_of: Callable[..., Any]) -> None:
    ggd, blm, penalty = losses(release_of(CLUMP), profiles_of(TABLE_5_1, food), food)
    assert ggd == pytest.approx(2 * (2 / 7 + 0 + 1) + (3 * (0 + 1) + 1))
    # Fruit is 3 of 8 leaves and Food all 8; one of 13 occurrences is suppressed.
    assert penalty == pytest.approx((2 * (3 / 8 + 1) + 3 * 1 + 1) / 13)
    # Fruit stands for orange and banana, Food for chicken and cheese, and in the second for three terms.
    assert blm == pytest.approx((2 * 1 / 7 + 2 * 1 / 7 + 3 * 2 / 7 + 1) / 13)


def test_partition_on_table_5_1(
    food: Knowledge, release_of: Callable[..., Made], profiles_of: Callable[..., Any]
) -> None:
    ggd, _, penalty = losses(release_of(PARTITION), profiles_of(TABLE_5_1, food), food)
    assert ggd == pytest.approx(2 * (2 / 7 + 1 / 7) + 1 + 3 * 1 + 5)
    assert penalty == pytest.approx((2 * (3 / 8 + 2 / 8) + 1 + 3 * 1 + 5) / 13)


def test_example_3_2_3(food: Knowledge, release_of: Callable[..., Made], profiles_of: Callable[..., Any]) -> None:
    made = release_of([({"Fruit": 1, "beef": 1}, ["a", "b"])])
    assert losses(made, profiles_of({"a": "orange beef", "b": "apple chicken beef"}, food), food)[0] == (
        pytest.approx(11 / 7)
    )


def test_typical_terms_stand_for_what_they_replace(
    goods: Knowledge, release_of: Callable[..., Made], profiles_of: Callable[..., Any]
) -> None:
    """Liu & Wang's first cluster: Wine stands for {Wine: 2, Vino: 1}; the raw milk of t3 is suppressed."""
    made = release_of([({"wine": 1, "vino": 1, "jackets": 1, "shoes": 1}, ["t1", "t2", "t3"])])
    asked = {user: VOCABULARIES[user] for user in ("t1", "t2", "t3")}
    ggd, blm, penalty = losses(made, profiles_of(asked, goods), goods)
    assert blm == pytest.approx((3 * (1 / 7 + 1 / 7 + 0 + 1 / 7) + 1) / 13)
    # A term in the place of another is no generalization of it: 2 + 3 + 4 of 13 are published as they are.
    assert ggd == pytest.approx(13 - 9)
    assert penalty == pytest.approx(4 / 13)


def test_a_label_loses_by_the_terms_it_stands_for_and_not_by_those_it_could(
    goods: Knowledge, release_of: Callable[..., Made], profiles_of: Callable[..., Any]
) -> None:
    """V-A: {Wine: 2, Vino: 1, Raw-milk: 2, Homo-milk: 1, Jackets: 1, Boots: 1} represented by Goods."""
    made = release_of([({"Goods": 4}, ["a", "b"])])
    asked = {"a": "wine wine jackets boots", "b": "vino raw-milk raw-milk homo-milk"}
    ggd, blm, _ = losses(made, profiles_of(asked, goods), goods)
    assert blm == pytest.approx(5 / 7)
    assert ggd == pytest.approx(8)


def test_a_bag_stands_for_its_members_only(
    goods: Knowledge, release_of: Callable[..., Made], profiles_of: Callable[..., Any]
) -> None:
    made = release_of([({"vino|wine": 1, "boots": 1}, ["a", "b"])])
    ggd, blm, penalty = losses(made, profiles_of({"a": "wine boots", "b": "vino pants"}, goods), goods)
    assert ggd == pytest.approx(2 * 1 / 7 + 1)
    assert penalty == pytest.approx((2 * 2 / 8 + 1) / 4)
    # boots replaces the pants: Footwear and Clothes are 4 edges apart.
    assert blm == pytest.approx((2 * 1 / 7 + 2 * 1 / 7) / 4)


def test_a_centroid_keeps_of_each_member_no_more_than_its_weight(
    food: Knowledge, release_of: Callable[..., Made], profiles_of: Callable[..., Any]
) -> None:
    made = release_of([({"apple": 1, "beef": 1}, ["a", "b"])])
    ggd, _, penalty = losses(made, profiles_of({"a": "apple apple", "b": "beef beef"}, food), food)
    assert ggd == pytest.approx(2)
    assert penalty == pytest.approx(2 / 4)


def test_a_user_without_a_profile_loses_everything(
    food: Knowledge, release_of: Callable[..., Made], profiles_of: Callable[..., Any]
) -> None:
    made = release_of([({"apple": 1}, ["a"])])
    assert losses(made, profiles_of({"a": "apple", "b": "beef milk milk"}, food), food) == (3.0, 0.75, 0.75)


def test_a_user_with_several_profiles_has_their_sum(
    food: Knowledge, release_of: Callable[..., Made], profiles_of: Callable[..., Any]
) -> None:
    made = release_of([({"apple": 1, "Food": 1}, ["a", "b"]), ({"Meat": 1, "apple": 1}, ["a"])])
    ggd, _, _ = losses(made, profiles_of({"a": "apple apple beef milk", "b": "apple beef"}, food), food)
    # a: apple twice as it is, beef as Meat, milk as Food; b: apple as it is, beef as Food.
    assert ggd == pytest.approx((0 + 0 + 1 / 7 + 1) + (0 + 1))


def test_the_label_that_loses_least_is_taken_first(
    food: Knowledge, release_of: Callable[..., Made], profiles_of: Callable[..., Any]
) -> None:
    made = release_of([({"Food": 1, "Fruit": 1}, ["a"])])
    assert losses(made, profiles_of({"a": "apple milk"}, food), food)[0] == pytest.approx(2 / 7 + 1)


def test_a_log_that_lacks_a_user_of_the_release_is_refused(
    food: Knowledge, release_of: Callable[..., Made], profiles_of: Callable[..., Any]
) -> None:
    release, assignment = release_of([({"apple": 1}, ["a", "stranger"])])
    with pytest.raises(InputError, match="stranger"):
        stand(release, assignment, profiles_of({"a": "apple"}, food), food)


@pytest.mark.parametrize(("epsilon", "lost"), [(0, 3 / 4), (1, 3 / 4), (2, 2 / 4), (3, 2 / 4), (4, 1 / 4), (6, 0)])
def test_what_a_term_replaces_is_within_the_epsilon_of_the_release(
    goods: Knowledge, release_of: Callable[..., Made], profiles_of: Callable[..., Any], epsilon: int, lost: float
) -> None:
    """wine is published for vino (2 edges away), raw-milk (4) and jackets (6)."""
    release, assignment = release_of([({"wine": 4}, ["a"])])
    profiles = profiles_of({"a": "wine vino raw-milk jackets"}, goods)
    standing = stand(release, assignment, profiles, goods, epsilon=epsilon)
    assert standing.lost(np.zeros(len(standing.entry)), replaced_too=True) / 4 == pytest.approx(lost)
    log = make_log(pl.Series(["a"]), pl.Series(["wine vino raw-milk jackets"]))
    claim = Claim("vocabulary-k-anonymity", {"epsilon": epsilon})
    measured = MeasuredRelease(release, assignment, log, goods, claim=claim)
    assert measure_release(measured, ["bLM"])["bLM"] == pytest.approx(bLM(standing, goods.taxonomy))


@pytest.mark.parametrize(("method", "lost"), [("original", 0.0), ("plain", 1.0)])
def test_the_controls_lose_nothing_and_everything(method: str, lost: float) -> None:
    profiles = build_profiles(sample_log(), Knowledge().words)
    made = make_method(method, {}, Knowledge()).anonymize(profiles)
    ggd, blm, penalty = losses((made.release, made.assignment), profiles, Knowledge())
    assert (ggd / profiles.occurrences.sum(), blm, penalty) == pytest.approx((lost, lost, lost), abs=1e-12)


@pytest.mark.parametrize("method", ["everyone", "clump"])
def test_what_is_lost_does_not_depend_on_how_many_rows_are_held_at_once(
    method: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    profiles = build_profiles(sample_log(), Knowledge().words)
    made = make_method(method, {}, Knowledge()).anonymize(profiles)
    apart = losses((made.release, made.assignment), profiles, Knowledge())
    monkeypatch.setattr(occurrences, "_ROWS_AT_ONCE", 5)
    monkeypatch.setattr(occurrences, "_USERS_AT_ONCE", 2)
    assert losses((made.release, made.assignment), profiles, Knowledge()) == pytest.approx(apart)


LEAVES = ["apple", "orange", "banana", "beef", "chicken", "milk", "cheese", "butter"]


@examples(40)
@given(bags=st.lists(st.lists(st.sampled_from(LEAVES), min_size=1, max_size=6), min_size=2, max_size=8))
def test_the_distortion_of_clump_is_the_thesis_definition(
    bags: list[list[str]], food: Knowledge, profiles_of: Callable[..., Profiles]
) -> None:
    profiles = profiles_of({f"u{i}": " ".join(bag) for i, bag in enumerate(bags)}, food)
    made = make_method("clump", {"k": 2}, food).anonymize(profiles)
    expected = 0.0
    for row in range(len(made.release)):
        members = [made.assignment.users[int(u)] for u in made.assignment.user[made.assignment.profile == row]]
        S = [bags[int(name[1:])] for name in members]
        expected += definition_3_2_3(S, made.release.profile(row), food)
    assert losses((made.release, made.assignment), profiles, food)[0] == pytest.approx(expected)


def definition_3_2_3(S: list[list[str]], t: dict[str, float], knowledge: Knowledge) -> float:
    """GGD(S, t) = |S| * sum of LM(i) over i in t + the number of suppressed items."""
    tree = knowledge.taxonomy
    LM = sum(copies * float(tree.LM[tree.node[label.lower()]]) for label, copies in t.items())
    return len(S) * LM + sum(len(transaction) - sum(t.values()) for transaction in S)
