"""Does Apriori give what the papers print? Examples 2.5.1 and 2.6.1 and Table 2.2 of the thesis, and one of DA's."""

import pytest

from shoal.anonymizer.claims import Evidence, verify
from tests.anonymizer.methods.apriori.small_logs import SmallLog, edges, small_log

FOOD = edges("Fruit: Apple Orange Banana, Meat: Beef Chicken, Dairy: Milk Cheese Butter, Food: Fruit Meat Dairy")
TABLE_2_2 = ["b c d", "a f g", "d f y z", "c d f x", "a b c f g", "e i", "e", "i"]


def published(log: SmallLog, **settings: object) -> list[set[str]]:
    made = log.anonymize("apriori", **settings)
    return [{log.knowledge.taxonomy.labels[v] for v in items} for items in log.published(made)]


def test_example_2_5_1_generalizes_a_fruit_and_its_siblings() -> None:
    log = small_log(FOOD, ["Orange Beef Cheese", "Apple Beef Cheese", "Apple Beef Cheese"])
    assert published(log, k=2, m=1) == [{"Fruit", "Beef", "Cheese"}] * 3


def test_the_example_of_terrovitis_generalizes_the_cheaper_of_two_pairs() -> None:
    """Figure 1 of the paper of 2008, k = 2 and m = 2: {a1, a2} -> A."""
    log = small_log(edges("A: a1 a2, B: b1 b2, all: A B"), ["a1 b1 b2", "a2 b1", "a2 b1 b2", "a1 a2 b2"])
    assert published(log, k=2, m=2) == [{"A", "b1", "b2"}, {"A", "b1"}, {"A", "b1", "b2"}, {"A", "b2"}]


@pytest.mark.parametrize("m", [3, "any"])
def test_example_2_6_1_who_knows_what_is_absent_finds_one_of_three(m: int | str) -> None:
    """The promise holds with k = 2 for any m, and yet one profile alone has orange and chicken and no milk."""
    log = small_log(FOOD, ["Orange Chicken", "Orange Chicken Milk", "Orange Chicken Milk"])
    made = log.anonymize("apriori", k=2, m=m)
    evidence = Evidence(made.release, made.assignment, made.suppressed, log.typed, log.knowledge)
    assert verify(made.claim, evidence).holds
    profiles = [set(made.release.profile(row)) for row in range(3)]
    bob = [terms for terms in profiles if {"orange", "chicken"} <= terms and "milk" not in terms]
    assert len(bob) == 1


@pytest.mark.parametrize("tree", ["T: P f g M e i", "Q: e f g, T: P Q M i"], ids=["flat", "with a node over e, f, g"])
def test_table_2_2_is_all_at_the_root_because_of_one_outlier(tree: str) -> None:
    """Section 2.7. Of Figure 2.3 the text tells P and M; that e and i have only T in common follows from the result."""
    log = small_log(edges(f"P: a b c d, M: x y z, {tree}"), TABLE_2_2)
    assert published(log, k=2, m="any") == [{"T"}] * 8
    without = small_log(edges(f"P: a b c d, M: x y z, {tree}"), [*TABLE_2_2[:5], "e", "e", "i", "i"])
    assert published(without, k=2, m="any")[5:] == [{"e"}, {"e"}, {"i"}, {"i"}]


def test_a_longer_profile_than_m_is_not_protected_from_who_knows_more() -> None:
    log = small_log(FOOD, ["Orange Beef", "Orange Milk", "Beef Milk", "Orange Beef", "Orange Milk", "Beef Milk",
                           "Orange Beef Milk"])  # fmt: skip
    assert published(log, k=2, m=2)[-1] == {"Orange", "Beef", "Milk"}
    assert published(log, k=2, m=3)[-1] != {"Orange", "Beef", "Milk"}
