"""What is small enough to evaluate in a test? A corpus of recipes and a log of a few cooks."""

import json
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from shoal.corpus.store.folders import cache_folder

TOPICS = {
    "wine": ["grape", "cellar", "bottle", "cork", "vineyard", "oak", "glass"],
    "bread": ["flour", "oven", "yeast", "crust", "loaf", "dough", "baker"],
    "fish": ["river", "net", "salmon", "boat", "harbour", "hook", "trout"],
    "cheese": ["milk", "goat", "cow", "dairy", "butter", "cream", "farm"],
}
FILLING = ["table", "kitchen", "dinner", "market", "recipe"]


@pytest.fixture(scope="package", autouse=True)
def own_cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """A cache that shares what was downloaded, and whose indexes go when the tests do."""
    own = tmp_path_factory.mktemp("cache")
    for name in ("data", "wordnet-tables", "logs"):
        (cache_folder() / name).mkdir(parents=True, exist_ok=True)
        (own / name).symlink_to(cache_folder() / name)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SHOAL_CACHE", str(own))
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
