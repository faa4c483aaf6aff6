"""Does the fast specialization of queries agree with the one written step by step?"""

from collections import Counter
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.anonymizer.methods.wordnet_queries import WordnetQueries
from shoal.anonymizer.methods.wordnet_queries.literal import generalize
from shoal.corpus.knowledge import Knowledge
from shoal.corpus.querylog import make_log
from shoal.corpus.tokens import tokenize
from tests.examples import examples

FOOD = {
    "Fruit": ["Apple", "Orange", "Banana"], "Meat": ["Beef", "Chicken"], "Dairy": ["Milk", "Cheese"],
    "Solid": ["Fruit", "Meat"], "Food": ["Solid", "Dairy", "Salt"],
}  # fmt: skip
WORDS = ["apple", "orange", "banana", "beef", "chicken", "milk", "cheese", "salt", "stone"]
QUERIES = st.lists(st.sampled_from(WORDS), min_size=1, max_size=3).map(" ".join)
LOGS = st.lists(st.tuples(st.sampled_from("abcdefg"), QUERIES), min_size=2, max_size=40)


@pytest.fixture(scope="module")
def food(tmp_path_factory: pytest.TempPathFactory) -> Knowledge:
    path: Path = tmp_path_factory.mktemp("food") / "food.tsv"
    path.write_text("".join(f"{child}\t{parent}\n" for parent, children in FOOD.items() for child in children))
    return Knowledge(path)


@examples(400)
@given(asked=LOGS, k=st.integers(2, 4))
def test_concepts_equal_those_of_the_literal_split(food: Knowledge, asked: list[tuple[str, str]], k: int) -> None:
    log = make_log(pl.Series([user for user, _ in asked]), pl.Series([query for _, query in asked]))
    if len(log.users) < k:
        return
    times: dict[str, Counter[str]] = {query: Counter() for query in log.queries.to_list()}
    for user, query in asked:
        times[query][user] += 1
    leaves = {q: {v for w in tokenize(q) if (v := food.taxonomy.leaf(w)) is not None} for q in times}
    concept = generalize(times, leaves, food.taxonomy, k)
    expected = Counter[tuple[str, str]]()
    for user, query in asked:
        if concept[query] != 0:
            expected[user, food.taxonomy.labels[concept[query]].lower()] += 1
    made = WordnetQueries(food, k=k).anonymize(log)
    queries = made.release.queries
    assert queries is not None
    name = dict(zip(made.assignment.profile.tolist(), made.assignment.user.tolist(), strict=True))
    users = [made.assignment.users[name[p]] for p in queries.pseudonym.tolist()]
    found = dict(zip(zip(users, queries.query.str.to_lowercase().to_list(), strict=True), queries.count, strict=True))
    assert found == expected
    assert made.suppressed.occurrences == len(asked) - expected.total()
    shared = Counter(label for _, label in expected)
    assert all(degree == shared[q.lower()] >= k for q, degree in zip(queries.query, queries.degree, strict=True))
