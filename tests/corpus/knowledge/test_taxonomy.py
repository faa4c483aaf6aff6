"""Is a taxonomy a tree, and are its numbers right?"""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.corpus.errors import InputError
from shoal.corpus.knowledge.taxonomy import Taxonomy, read_taxonomy, wordnet_taxonomy
from tests.examples import examples

FOOD = (
    "Apple\tFruit\nOrange\tFruit\nBanana\tFruit\nBeef\tMeat\nChicken\tMeat\nMilk\tDairy\nCheese\tDairy\n"
    "Butter\tDairy\nFruit\tFood\nMeat\tFood\nDairy\tFood\n"
)


def tree(folder: Path, text: str) -> Taxonomy:
    path = folder / "tree.tsv"
    path.write_text(text)
    return read_taxonomy(path)


def test_the_food_tree_has_the_loss_of_the_thesis(tmp_path: Path) -> None:
    food = tree(tmp_path, FOOD)
    assert food.labels[0] == "Food"
    assert food.LM[food.node["fruit"]] == pytest.approx(2 / 7)
    assert food.LM[food.node["meat"]] == pytest.approx(1 / 7)
    assert (food.LM[0], food.LM[food.node["beef"]]) == (1, 0)
    assert food.leaves_below("Meat") == ["beef", "chicken"]
    assert [food.labels[v] for v in food.path(food.node["milk"])] == ["Milk", "Dairy", "Food"]


def test_labels_are_compared_without_case_and_terms_are_leaves(tmp_path: Path) -> None:
    food = tree(tmp_path, FOOD.replace("Beef\tMeat", "beef\tMEAT"))
    assert food.leaf("beef") is not None
    assert food.leaf("meat") is None
    assert food.leaf("stone") is None


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a\tb\nb\tc\nc\ta\n", "cycle"),
        ("a\tb\na\tc\nb\td\nc\td\n", "line 2: a has two parents, b .line 1. and c"),
        ("a\tb\nc\td\n", "line 2: two roots, b and d"),
        ("a\tb\nonly one column\n", "line 2: expected child<TAB>parent"),
        ("", "is empty"),
    ],
)
def test_what_is_no_tree_is_refused_with_its_line(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        tree(tmp_path, text)


@pytest.mark.parametrize("line", ["Pear|Apple\tFruit", "Pear\tFruit|Food"])
def test_a_label_that_reads_like_a_bag_is_refused(tmp_path: Path, line: str) -> None:
    with pytest.raises(InputError, match=r"tree\.tsv, line 12: '.*\|.*' reads like a bag of terms; write it without"):
        tree(tmp_path, f"{FOOD}{line}\n")


def test_a_missing_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no taxonomy can be read"):
        read_taxonomy(tmp_path / "none.tsv")


@examples(100)
@given(st.lists(st.integers(0, 10**6), min_size=1, max_size=30))
def test_any_random_tree_keeps_its_edges_and_counts_its_leaves(
    tmp_path_factory: pytest.TempPathFactory, choices: list[int]
) -> None:
    parents = {i + 1: choice % (i + 1) for i, choice in enumerate(choices)}
    text = "".join(f"n{child}\tn{parent}\n" for child, parent in parents.items())
    made = tree(tmp_path_factory.mktemp("trees"), text)
    edges = {(made.labels[v], made.labels[made.parent[v]]) for v in range(1, len(made))}
    assert edges == {(f"n{child}", f"n{parent}") for child, parent in parents.items()}
    for v in range(len(made)):
        below = [w for w in range(len(made)) if v in made.path(w)]
        assert below == list(range(v, made.end[v]))
        assert made.leaves[v] == sum(made.is_leaf[w] for w in below)
        assert made.depth[v] == len(made.path(v)) - 1


def test_the_wordnet_tree_hangs_every_word_under_its_first_sense() -> None:
    taxonomy = wordnet_taxonomy()
    assert taxonomy.labels[0] == "entity.n.01"
    dog = taxonomy.leaf("dog")
    assert dog is not None
    assert taxonomy.labels[taxonomy.parent[dog]] == "dog.n.01"
    assert not any("_" in taxonomy.labels[v] for v in np.flatnonzero(taxonomy.is_leaf)[:2000])
    assert taxonomy.leaves[0] == 57427
