"""Does Clump give what the thesis prints? Examples 3.1.1, 3.2.1-3.2.3, section 4.1, 5.1.1 and Table 5.1."""

from collections import Counter
from fractions import Fraction
from itertools import combinations_with_replacement
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from shoal.anonymizer.base import Anonymized
from shoal.anonymizer.methods.clump.literal import Tree, clump, distortion, lcg_by_buig, lcg_by_definition
from shoal.anonymizer.registry import make_method
from shoal.corpus.knowledge import Knowledge
from shoal.corpus.profiles import build_profiles
from shoal.corpus.querylog import make_log

FOOD = {
    "Fruit": ["Apple", "Orange", "Banana"], "Meat": ["Beef", "Chicken"], "Dairy": ["Milk", "Cheese", "Butter"],
}  # fmt: skip
TABLE = ["Orange Chicken Beef", "Banana Beef Cheese", "Chicken Milk Butter", "Apple Chicken", "Chicken Beef"]
Profile = dict[str, float]


@pytest.fixture
def food(tmp_path: Path) -> Knowledge:
    lines = [f"{group}\tFood" for group in FOOD] + [f"{x}\t{group}" for group, items in FOOD.items() for x in items]
    (tmp_path / "food").write_text("\n".join(lines))
    return Knowledge(tmp_path / "food")


def anonymize(food: Knowledge, transactions: list[str], **settings: object) -> Anonymized:
    users = pl.Series([f"t{i + 1}" for i in range(len(transactions))])
    log = make_log(users, pl.Series(transactions))
    return make_method("clump", settings, food).anonymize(build_profiles(log, food.words))


def groups(made: Anonymized) -> dict[tuple[str, ...], Profile]:
    table = {}
    for row in range(len(made.release)):
        members = made.assignment.user[made.assignment.profile == row]
        names = tuple(sorted(made.assignment.users[int(u)] for u in members))
        table[names] = {label.lower(): weight for label, weight in made.release.profile(row).items()}
    return table


def lcg(food: Knowledge, *transactions: str) -> Profile:
    """The least common generalization of transactions, as the one group that k makes of all of them."""
    return next(iter(groups(anonymize(food, list(transactions), k=len(transactions))).values()))


def ggd(food: Knowledge, made: Anonymized) -> float:
    """Definition 3.2.3 from what was published."""
    cost = sum(
        made.release.users[row] * weight * food.taxonomy.LM[food.taxonomy.node[label.lower()]]
        for row in range(len(made.release))
        for label, weight in made.release.profile(row).items()
    )
    return float(cost + made.suppressed.occurrences)


def bags(food: Knowledge, transactions: list[str]) -> list[dict[int, int]]:
    return [dict(Counter(food.taxonomy.node[item.lower()] for item in t.split())) for t in transactions]


def test_table_5_1_gives_the_clusters_and_distortion_of_the_thesis(food: Knowledge) -> None:
    made = anonymize(food, TABLE, k=2)
    assert groups(made) == {
        ("t1", "t2"): {"fruit": 1, "beef": 1, "food": 1},
        ("t3", "t4", "t5"): {"chicken": 1, "food": 1},
    }
    assert ggd(food, made) == pytest.approx(6.571, abs=5e-4)


def test_generalized_labels_are_flagged_and_terms_are_not(food: Knowledge) -> None:
    release = anonymize(food, TABLE, k=2).release
    flags = dict(zip(release.labels, release.generalized.tolist(), strict=True))
    assert flags == {"Food": True, "Fruit": True, "beef": False, "chicken": False}


def test_the_choices_of_section_5_2_cost_what_it_says(food: Knowledge) -> None:
    tree = Tree(food.taxonomy.parent)
    t1, t2, t3 = bags(food, TABLE[:3])
    for other, expected in ((t1, Fraction(18, 7)), (t3, Fraction(20, 7))):  # printed 2.57 and 2.85
        common = lcg_by_definition(tree, [other, t2])
        assert Fraction(distortion(tree, 6, 2, common), 7) == expected


@pytest.mark.parametrize(
    ("transactions", "expected"),
    [
        (["Orange Beef", "Apple Chicken Beef"], {"fruit": 1, "beef": 1}),
        (["Orange Milk", "Apple Cheese Butter"], {"fruit": 1, "dairy": 1}),
        (["Orange Apple", "Orange Banana Milk", "Banana Apple Beef"], {"fruit": 2}),
        (["Orange Beef", "Apple Milk"], {"fruit": 1, "food": 1}),
    ],
)
def test_example_3_2_1(food: Knowledge, transactions: list[str], expected: Profile) -> None:
    assert lcg(food, *transactions) == expected


def test_example_3_1_1_lists_all_generalized_transactions(food: Knowledge) -> None:
    """The fifteen bags that generalize <Orange, Beef> are those that are their own common generalization with it."""
    labels = [label.lower() for label in food.taxonomy.labels]
    tree, t = Tree(food.taxonomy.parent), bags(food, ["Orange Beef"])[0]
    some = [
        *combinations_with_replacement(range(len(labels)), 1),
        *combinations_with_replacement(range(len(labels)), 2),
    ]
    found = {
        tuple(sorted(labels[v] for v in g))
        for g in some
        if lcg_by_definition(tree, [dict(Counter(g)), t]) == Counter(g)
    }
    printed = (
        "orange,beef,orange beef,fruit beef,orange meat,fruit meat,fruit,meat,food,orange food,food beef,fruit food,"
        "food meat,food food"
    )
    assert found == {tuple(sorted(g.split())) for g in printed.split(",")}  # and the empty one


def test_example_3_2_2_fruit_loses_two_sevenths(food: Knowledge) -> None:
    assert food.taxonomy.LM[food.taxonomy.node["fruit"]] == pytest.approx(2 / 7)


def test_example_3_2_3_costs_eleven_sevenths(food: Knowledge) -> None:
    made = anonymize(food, ["Orange Beef", "Apple Chicken Beef"], k=2)
    assert ggd(food, made) == pytest.approx(11 / 7)
    assert made.suppressed.occurrences == 1  # Chicken


def test_section_4_1_close_to_one_is_not_close_to_each_other(food: Knowledge) -> None:
    pairs = {("Orange Beef", "Orange"): 1, ("Orange Beef", "Beef"): 1, ("Orange", "Beef"): 2}
    for pair, expected in pairs.items():
        assert ggd(food, anonymize(food, list(pair), k=2)) == pytest.approx(expected)
    all_three = anonymize(food, ["Orange Beef", "Orange", "Beef"], k=3)
    assert next(iter(groups(all_three).values())) == {"food": 1}
    assert ggd(food, all_three) == pytest.approx(4)


def test_example_5_1_1_by_buig_and_in_closed_form(food: Knowledge) -> None:
    tree = Tree(food.taxonomy.parent)
    S = bags(food, ["Orange Apple", "Orange Banana Milk", "Banana Apple Beef"])
    expected = {food.taxonomy.node["fruit"]: 2}
    assert lcg_by_buig(tree, S) == expected
    assert lcg_by_definition(tree, S) == expected


def by_buig(known: Knowledge, *transactions: str) -> Profile:
    return next(iter(groups(anonymize(known, list(transactions), k=len(transactions), lcg="buig")).values()))


def test_a_bag_whose_least_common_generalization_buig_misses(food: Knowledge) -> None:
    transactions = ["Orange Orange", "Orange Apple"]
    node = food.taxonomy.node
    assert lcg_by_buig(Tree(food.taxonomy.parent), bags(food, transactions)) == {node["orange"]: 1, node["food"]: 1}
    assert by_buig(food, *transactions) == {"orange": 1, "food": 1}
    assert lcg(food, *transactions) == {"orange": 1, "fruit": 1}


def test_two_sets_whose_least_common_generalization_buig_misses(tmp_path: Path) -> None:
    """b1 and b3 meet at B, and nothing moves up from there: b2 and c1 meet at the root only, not at A."""
    edges = "b1 B,b2 B,b3 B,c1 C,c2 C,B A,C A,A Root,d Root"
    (tmp_path / "tree").write_text(edges.replace(" ", "\t").replace(",", "\n"))
    known = Knowledge(tmp_path / "tree")
    assert by_buig(known, "b1 b2", "b3 c1") == {"b": 1, "root": 1}
    assert lcg(known, "b1 b2", "b3 c1") == {"b": 1, "a": 1}


def test_table_5_1_is_the_same_by_buig(food: Knowledge) -> None:
    assert groups(anonymize(food, TABLE, k=2, lcg="buig")) == groups(anonymize(food, TABLE, k=2))


def test_lemma_4_1_1_a_cluster_needs_only_its_least_common_generalization(food: Knowledge) -> None:
    tree = Tree(food.taxonomy.parent)
    t1, t2, t3, *_ = bags(food, TABLE)
    at_once = lcg_by_definition(tree, [t1, t2, t3])
    assert lcg_by_definition(tree, [lcg_by_definition(tree, [t1, t2]), t3]) == at_once


def test_clump2_publishes_no_item_twice(food: Knowledge) -> None:
    transactions = ["Orange Apple", "Orange Banana Milk", "Banana Apple Beef"]
    made = anonymize(food, transactions, k=3, duplicates="drop")
    assert next(iter(groups(made).values())) == {"fruit": 1}
    assert made.suppressed.occurrences == 8 - 3


def test_the_literal_algorithm_gives_table_5_1_too(food: Knowledge) -> None:
    transactions = bags(food, TABLE)
    order = np.argsort([-len(t.split()) for t in TABLE], kind="stable").tolist()
    clusters = clump(Tree(food.taxonomy.parent), transactions, order, 2, 10)
    assert [sorted(cluster.members) for cluster in clusters] == [[0, 1], [2, 3, 4]]
