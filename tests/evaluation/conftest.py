"""What is small enough to evaluate in a test? Recipes, a log of a few cooks, and releases written down in a line."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from scipy.sparse import csr_array

from shoal.anonymizer.base import Assignment, Release
from shoal.corpus.knowledge import Knowledge
from shoal.corpus.profiles import Profiles, build_profiles
from shoal.corpus.querylog import QueryLog, make_log
from shoal.corpus.store.folders import cache_folder

TOPICS = {
    "wine": ["grape", "cellar", "bottle", "cork", "vineyard", "oak", "glass"],
    "bread": ["flour", "oven", "yeast", "crust", "loaf", "dough", "baker"],
    "fish": ["river", "net", "salmon", "boat", "harbour", "hook", "trout"],
    "cheese": ["milk", "goat", "cow", "dairy", "butter", "cream", "farm"],
}
FILLING = ["table", "kitchen", "dinner", "market", "recipe"]


@contextmanager
def cache_of_tests(factory: pytest.TempPathFactory) -> Iterator[None]:
    """A cache that shares what was downloaded, and whose indexes go when the tests do."""
    own = factory.mktemp("cache")
    for name in ("archives", "data", "wordnet-tables", "logs"):
        (cache_folder() / name).mkdir(parents=True, exist_ok=True)
        (own / name).symlink_to(cache_folder() / name)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SHOAL_CACHE", str(own))
        yield


@pytest.fixture(scope="package", autouse=True)
def own_cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """For the tests of a folder. A file that is in no folder of its own takes `cache_of_tests` for itself alone."""
    with cache_of_tests(tmp_path_factory):
        yield


@pytest.fixture(scope="session")
def corpus_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """280 documents, each of one topic, all with some of the words that everybody asks for."""
    rng = np.random.default_rng(7)
    path = tmp_path_factory.mktemp("corpus") / "recipes.jsonl"
    with path.open("w") as file:
        for i in range(280):
            topic = list(TOPICS)[i % 4]
            words = [topic, *rng.choice(TOPICS[topic], 5), *rng.choice(FILLING, 6)]
            text = " ".join(rng.permutation(words).tolist())
            file.write(json.dumps({"id": f"d{i}", "title": f"{topic} {i}", "text": text}) + "\n")
    return path


@pytest.fixture(scope="session")
def log_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """24 users with one topic each: seven queries of it, then three for words that all documents may hold."""
    rng = np.random.default_rng(8)
    path = tmp_path_factory.mktemp("log") / "cooks.tsv"
    rows = []
    for user in range(24):
        topic = list(TOPICS)[user % 4]
        early = [f"{topic} {a} {b}" for a, b in (rng.choice(TOPICS[topic], 2) for _ in range(7))]
        late = [f"{a} {b}" for a, b in (rng.choice(FILLING, 2, replace=False) for _ in range(3))]
        for minute, query in enumerate([*early, *late]):
            clicked = f"\t1\td{user % 4 + 4 * minute}" if minute >= 7 else "\t\t"
            rows.append(f"user-{user}\t{query}\t2006-03-01 10:{minute:02d}:00{clicked}\n")
    path.write_text("AnonID\tQuery\tQueryTime\tItemRank\tClickURL\n" + "".join(rows))
    return path


FOOD = {
    "Apple": "Fruit", "Orange": "Fruit", "Banana": "Fruit", "Beef": "Meat", "Chicken": "Meat", "Milk": "Dairy",
    "Cheese": "Dairy", "Butter": "Dairy", "Fruit": "Food", "Meat": "Food", "Dairy": "Food",
}  # fmt: skip
GOODS = {
    "Wine": "Alcohol", "Vino": "Alcohol", "Raw-milk": "Milk", "Homo-milk": "Milk", "Alcohol": "Edibles",
    "Milk": "Edibles", "Jackets": "Clothes", "Pants": "Clothes", "Boots": "Footwear", "Shoes": "Footwear",
    "Clothes": "Apparel", "Footwear": "Apparel", "Edibles": "Goods", "Apparel": "Goods",
}  # fmt: skip
# What is published, and who has it.
Groups = Sequence[tuple[Mapping[str, float], Sequence[str]]]
MakeRelease = Callable[..., tuple[Release, Assignment]]


def knowledge_of(tree: Mapping[str, str], folder: Path) -> Knowledge:
    path = folder / "tree.tsv"
    path.write_text("".join(f"{child}\t{parent}\n" for child, parent in tree.items()))
    return Knowledge(path)


@pytest.fixture(scope="session")
def food(tmp_path_factory: pytest.TempPathFactory) -> Knowledge:
    """Figure 1.3 of the thesis."""
    return knowledge_of(FOOD, tmp_path_factory.mktemp("food"))


@pytest.fixture(scope="session")
def goods(tmp_path_factory: pytest.TempPathFactory) -> Knowledge:
    """Figure 2 (a) of Liu & Wang."""
    return knowledge_of(GOODS, tmp_path_factory.mktemp("goods"))


@pytest.fixture(scope="session")
def profiles_of() -> Callable[[Mapping[str, str], Knowledge], Profiles]:
    """Profiles from one line of words per user."""

    def make(asked: Mapping[str, str], knowledge: Knowledge) -> Profiles:
        return build_profiles(log_of(asked), knowledge.words)

    return make


def log_of(asked: Mapping[str, str]) -> QueryLog:
    return make_log(pl.Series(list(asked), dtype=pl.String), pl.Series(list(asked.values()), dtype=pl.String))


@pytest.fixture(scope="session")
def release_of() -> MakeRelease:
    """A release and its assignment from published profiles and the users of each; capitals mark what is generalized."""

    def make(groups: Groups) -> tuple[Release, Assignment]:
        labels = sorted({label for profile, _ in groups for label in profile})
        weights = np.array([[profile.get(label, 0.0) for label in labels] for profile, _ in groups])
        names = list(dict.fromkeys(user for _, users in groups for user in users))
        pairs = [(names.index(user), row) for row, (_, users) in enumerate(groups) for user in users]
        release = Release(
            pseudonyms=[f"p{row}" for row in range(len(groups))],
            users=np.array([len(users) for _, users in groups], dtype=np.int64),
            labels=labels,
            generalized=np.array([label[0].isupper() or "|" in label for label in labels], dtype=bool),
            weights=csr_array(weights.reshape(len(groups), len(labels))),
        )
        user, row = (np.array([pair[i] for pair in pairs], dtype=np.int32) for i in (0, 1))
        return release, Assignment(pl.Series(names, dtype=pl.String), user, row)

    return make
