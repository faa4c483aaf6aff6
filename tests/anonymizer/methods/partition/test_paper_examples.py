"""Does Partition give what the papers print? Table 1.1 of the thesis, and LG and LG(bag) of SSC's running example."""

from pathlib import Path

import polars as pl
import pytest

from shoal.anonymizer.base import Anonymized
from shoal.anonymizer.registry import make_method
from shoal.corpus.knowledge import Knowledge
from shoal.corpus.profiles import build_profiles
from shoal.corpus.querylog import make_log

FOOD = (
    "Apple Fruit,Orange Fruit,Banana Fruit,Beef Meat,Chicken Meat,Milk Dairy,Cheese Dairy,Butter Dairy,"
    "Fruit Food,Meat Food,Dairy Food"
)
GOODS = (
    "Wine Alcohol,Vino Alcohol,Raw-milk Milk,Homo-milk Milk,Alcohol Edibles,Milk Edibles,Jackets Clothes,Pants Clothes,"
    "Boots Footwear,Shoes Footwear,Clothes Apparel,Footwear Apparel,Edibles Goods,Apparel Goods"
)
TABLE_1_1 = ["Orange Chicken Beef", "Banana Beef Cheese", "Chicken Milk Butter", "Apple Chicken", "Chicken Beef"]
FIGURE_1 = [
    "Wine Wine Jackets Boots", "Vino Vino Jackets Shoes", "Wine Vino Raw-milk Jackets Shoes",
    "Vino Raw-milk Raw-milk Homo-milk", "Raw-milk Homo-milk Homo-milk Jackets Pants",
]  # fmt: skip


def knowledge(folder: Path, tree: str) -> Knowledge:
    (folder / "tree").write_text(tree.replace(" ", "\t").replace(",", "\n"))
    return Knowledge(folder / "tree")


def anonymize(known: Knowledge, transactions: list[str], **settings: object) -> Anonymized:
    users = pl.Series([f"t{i + 1}" for i in range(len(transactions))])
    log = make_log(users, pl.Series(transactions))
    return make_method("partition", settings, known).anonymize(build_profiles(log, known.words))


def groups(made: Anonymized) -> dict[tuple[str, ...], dict[str, float]]:
    table = {}
    for row in range(len(made.release)):
        members = made.assignment.user[made.assignment.profile == row]
        table[tuple(sorted(made.assignment.users[int(u)] for u in members))] = made.release.profile(row)
    return table


def test_table_1_1_gives_the_groups_and_the_corrected_distortion(tmp_path: Path) -> None:
    known = knowledge(tmp_path, FOOD)
    made = anonymize(known, TABLE_1_1, k=2)
    assert groups(made) == {("t1", "t4"): {"Fruit": 1, "Meat": 1}, ("t2", "t3", "t5"): {"Food": 1}}
    LM, node = known.taxonomy.LM, known.taxonomy.node
    cost = 2 * (LM[node["fruit"]] + LM[node["meat"]]) + 3 * LM[node["food"]] + made.suppressed.occurrences
    assert cost == pytest.approx(9.857, abs=5e-4)


def test_the_running_example_of_ssc_by_lg(tmp_path: Path) -> None:
    """Section V-A: Goods stands for {Wine:2, Vino:1, Raw-milk:2, Homo-milk:1, Jackets:1, Boots:1}: t1 and t4."""
    made = anonymize(knowledge(tmp_path, GOODS), FIGURE_1, k=2)
    assert groups(made) == {("t1", "t4"): {"Goods": 1}, ("t2", "t3", "t5"): {"Edibles": 1, "Apparel": 1}}


def test_the_running_example_of_ssc_by_lg_bag(tmp_path: Path) -> None:
    made = anonymize(knowledge(tmp_path, GOODS), FIGURE_1, k=2, bags="yes")
    assert groups(made) == {("t1", "t4"): {"Goods": 4}, ("t2", "t3", "t5"): {"Edibles": 2, "Apparel": 2}}
    assert made.suppressed.occurrences == 22 - 2 * 4 - 3 * 4


def test_users_alike_are_told_to_the_leaf(tmp_path: Path) -> None:
    made = anonymize(knowledge(tmp_path, FOOD), ["Orange Beef Beef"] * 4, k=4, bags="yes")
    assert groups(made) == {("t1", "t2", "t3", "t4"): {"orange": 1, "beef": 2}}
    assert made.suppressed.occurrences == 0
