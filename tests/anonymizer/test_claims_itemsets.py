"""Does the verifier of k^m-anonymity see what is wrong? Broken twins of true releases, each with its reason."""

from collections.abc import Callable
from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array

from shoal.anonymizer.base import Anonymized, Assignment, Claim, Suppressed
from shoal.anonymizer.claims import Evidence, Verdict, sentence, verify
from shoal.anonymizer.claims.itemsets import sets_under_k, whole_sets_under_k
from shoal.anonymizer.contract.literal import is_true
from tests.anonymizer.methods.apriori.small_logs import SmallLog, edges, small_log, small_logs
from tests.examples import examples

FOOD = edges("Fruit: Apple Orange Banana, Meat: Beef Chicken, Dairy: Milk Cheese Butter, Food: Fruit Meat Dairy")
QUERIES = [
    "Apple Beef Milk", "Orange Beef Milk", "Banana Beef Milk", "Apple Beef", "Orange Chicken Beef",
    "Banana Chicken Beef", "Beef Beef Milk", "Chicken Cheese", "Chicken Butter", "Chicken Beef Cheese", "qxqxq",
]  # fmt: skip


@pytest.fixture(scope="module")
def food() -> SmallLog:
    return small_log(FOOD, QUERIES)


@pytest.fixture(scope="module")
def made(food: SmallLog) -> Anonymized:
    return food.anonymize("apriori", k=2, m=2)


def verdict_on(made: Anonymized, log: SmallLog) -> Verdict:
    return verify(made.claim, Evidence(made.release, made.assignment, made.suppressed, log.typed, log.knowledge))


def with_profiles(made: Anonymized, change: Callable[[list[set[str]]], None]) -> Anonymized:
    """Other profiles, with their flags and the number of suppressed occurrences as they must be."""
    release = made.release
    rows = [set(release.profile(row)) for row in range(len(release))]
    change(rows)
    labels = sorted(set().union(*rows))
    weights = csr_array(np.array([[float(label in row) for label in labels] for row in rows]))
    flags = np.array([label[0].isupper() for label in labels])
    gone = release.weights.nnz - weights.nnz
    other = replace(release, labels=labels, generalized=flags, weights=weights)
    return replace(
        made, release=other, suppressed=replace(made.suppressed, occurrences=made.suppressed.occurrences + gone)
    )


def row_with(rows: list[set[str]], *labels: str) -> set[str]:
    return next(row for row in rows if set(labels) <= row)


def an_item_of_one_user_more_special(made: Anonymized) -> Anonymized:
    """The user's own word in the place of what it is for all."""

    def change(rows: list[set[str]]) -> None:
        row = row_with(rows, "Fruit")
        row ^= {"Fruit", "apple"}

    return with_profiles(made, change)


def an_item_more_special_in_all_profiles(made: Anonymized) -> Anonymized:
    """What three fruits became, as one of them."""

    def change(rows: list[set[str]]) -> None:
        for row in rows:
            if "Fruit" in row:
                row ^= {"Fruit", "banana"}

    return with_profiles(made, change)


def an_item_less(made: Anonymized) -> Anonymized:
    return with_profiles(made, lambda rows: row_with(rows, "beef", "Dairy").remove("Dairy"))


def an_item_that_its_user_never_typed(made: Anonymized) -> Anonymized:
    return with_profiles(made, lambda rows: row_with(rows, "beef").add("chicken"))


def a_word_of_nobody(made: Anonymized) -> Anonymized:
    return with_profiles(made, lambda rows: rows[0].add("zzyzx"))


def an_item_that_stands_twice(made: Anonymized) -> Anonymized:
    weights = made.release.weights.copy()
    weights.data[0] = 2
    return replace(made, release=replace(made.release, weights=weights))


def two_users_of_one_profile(made: Anonymized) -> Anonymized:
    users, profile = made.release.users.copy(), made.assignment.profile.copy()
    users[:2] = [2, 0]
    profile[profile == 1] = 0
    moved = Assignment(made.assignment.users, made.assignment.user, profile)
    return replace(made, release=replace(made.release, users=users), assignment=moved)


def two_profiles_exchanged(made: Anonymized) -> Anonymized:
    profile = made.assignment.profile.copy()
    rows = [set(made.release.profile(row)) for row in profile]
    one, other = next((i, j) for i, j in combinations(range(len(rows)), 2) if rows[i] != rows[j])
    profile[[one, other]] = profile[[other, one]]
    return replace(made, assignment=Assignment(made.assignment.users, made.assignment.user, profile))


def a_profile_of_nothing(made: Anonymized) -> Anonymized:
    """The user without a known term as if published."""
    old = made.assignment
    (outside,) = set(range(len(old.users))) - set(old.user.tolist())
    content = made.release.weights
    weights = csr_array((content.data, content.indices, np.append(content.indptr, content.indptr[-1])))
    release = replace(
        made.release,
        pseudonyms=[*made.release.pseudonyms, "p0011"],
        users=np.append(made.release.users, 1),
        weights=weights,
    )
    assignment = Assignment(old.users, np.append(old.user, outside), np.append(old.profile, len(made.release)))
    return replace(made, release=release, assignment=assignment, suppressed=replace(made.suppressed, users=0))


def more_suppressed_than_is_missing(made: Anonymized) -> Anonymized:
    return replace(made, suppressed=Suppressed(made.suppressed.occurrences + 1, made.suppressed.users))


def a_larger_promise(made: Anonymized) -> Anonymized:
    return replace(made, claim=Claim(made.claim.id, {**made.claim.values, "k": 3}))


def a_promise_for_any_items(made: Anonymized) -> Anonymized:
    return replace(made, claim=Claim(made.claim.id, {**made.claim.values, "m": "any"}))


MUTANTS = {
    an_item_of_one_user_more_special: "'Apple' is published, and so is 'Fruit' above it",
    an_item_more_special_in_all_profiles: "users typed 'apple'",
    an_item_less: "does not hold 'Dairy'",
    an_item_that_its_user_never_typed: "holds 'chicken'",
    a_word_of_nobody: "'zzyzx'",
    an_item_that_stands_twice: "every item stands once",
    two_users_of_one_profile: "is of 2 users",
    two_profiles_exchanged: "the profile of user",
    a_profile_of_nothing: "holds nothing",
    more_suppressed_than_is_missing: "the manifest counts",
    a_larger_promise: "fewer than k=3",
    a_promise_for_any_items: "fewer than k=2",
}


@pytest.mark.parametrize("mutate", MUTANTS, ids=lambda mutate: mutate.__name__)
def test_a_broken_twin_is_rejected_with_its_reason(
    food: SmallLog, made: Anonymized, mutate: Callable[[Anonymized], Anonymized]
) -> None:
    assert verdict_on(made, food).holds
    assert len({label for label in made.release.labels if label in ("Fruit", "Dairy", "beef", "chicken")}) == 4
    verdict = verdict_on(mutate(made), food)
    assert not verdict.holds
    assert MUTANTS[mutate] in verdict.counterexample


@examples(150)
@given(
    small_logs(),
    st.integers(2, 3),
    st.sampled_from([1, 2, 3, "any"]),
    st.sampled_from(["nothing", "items"]),
    st.data(),
)
def test_the_verifier_agrees_with_the_definition(
    log: SmallLog, k: int, m: int | str, suppressed: str, data: st.DataObject
) -> None:
    """Over a true release for smaller k and m, with an item taken out of all profiles or not."""
    if len(log.transactions) < 2:
        return
    made = log.anonymize("apriori", k=2, m=data.draw(st.sampled_from([1, 2])))
    column = data.draw(st.integers(-1, len(made.release.labels) - 1))
    if column >= 0 and len(made.release.labels) > 1:
        made = without_item(made, column)
    claim = Claim("km-anonymity", {"k": k, "m": m, "suppressed": suppressed})
    evidence = Evidence(made.release, made.assignment, made.suppressed, log.typed, log.knowledge)
    verdict = verify(claim, evidence)
    assert verdict.holds == is_true(claim, evidence), verdict.counterexample


def without_item(made: Anonymized, column: int) -> Anonymized:
    """A release with an item suppressed, and with those suppressed who had no other."""
    release, keep = made.release, np.arange(len(made.release.labels)) != column
    weights = csr_array(release.weights[:, keep])
    rows = np.flatnonzero(np.diff(weights.indptr))
    place = np.full(len(release), -1)
    place[rows] = np.arange(len(rows))
    inside = place[made.assignment.profile] >= 0
    fewer = replace(
        release, pseudonyms=[release.pseudonyms[row] for row in rows], users=release.users[rows],
        labels=[label for label, kept in zip(release.labels, keep, strict=True) if kept],
        generalized=release.generalized[keep], weights=csr_array(weights[rows]),
    )  # fmt: skip
    members = Assignment(made.assignment.users, made.assignment.user[inside], place[made.assignment.profile[inside]])
    gone = Suppressed(
        made.suppressed.occurrences + release.weights.nnz - weights.nnz, made.suppressed.users + int((~inside).sum())
    )
    return replace(made, release=fewer, assignment=members, suppressed=gone)


@examples(90)
@given(st.lists(st.lists(st.booleans(), min_size=5, max_size=5), min_size=1, max_size=12), st.integers(2, 4))
def test_sets_under_k_are_those_that_counting_finds(rows: list[list[bool]], k: int) -> None:
    held = csr_array(np.array(rows, dtype=np.int64))
    table = [{i for i in range(5) if row[i]} for row in rows]

    def counted(size: int) -> dict[tuple[int, ...], int]:
        users = {items: sum(set(items) <= row for row in table) for items in combinations(range(5), size)}
        return {items: n for items, n in users.items() if 0 < n < k}

    for m in (1, 2, 3, 4):
        found = {tuple(columns): users for columns, users in sets_under_k(held, k, m)}
        assert found == {items: n for size in range(1, m + 1) for items, n in counted(size).items()}
    some = any(counted(size) for size in range(1, 6))
    assert bool(list(whole_sets_under_k(held, k))) == some


def test_the_sentence_says_how_many_items_and_whether_some_are_left_out() -> None:
    said = {m: sentence(Claim("km-anonymity", {"k": 5, "m": m, "suppressed": "nothing"})) for m in (1, 2, "any")}
    assert said[1].startswith("Any published item of a profile is in at least 5 profiles, and each profile")
    assert said[2].startswith("Up to 2 published items of a profile are in at least 5 profiles")
    assert said["any"].startswith("Any published items of a profile are in at least 5")
    items = sentence(Claim("km-anonymity", {"k": 5, "m": 2, "suppressed": "items"}))
    assert items == said[2][:-1] + ", without items that are left out of all profiles."
