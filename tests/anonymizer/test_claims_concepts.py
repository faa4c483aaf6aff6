"""Does the verifier of generalized queries accept what is true and reject what is not?"""

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array

from shoal.anonymizer.base import Anonymized, ReleasedQueries, Suppressed
from shoal.anonymizer.claims import Evidence, Verdict, concepts, verify
from shoal.anonymizer.contract.literal import is_true
from shoal.anonymizer.methods.wordnet_queries import WordnetQueries
from shoal.corpus.knowledge import Knowledge
from shoal.corpus.querylog import QueryLog, make_log
from tests.examples import examples

FOOD = {
    "Fruit": ["Apple", "Orange"], "Meat": ["Beef", "Chicken"], "Solid": ["Fruit", "Meat"], "Food": ["Solid", "Milk"],
}  # fmt: skip
WORDS = ["apple", "orange", "beef", "chicken", "milk", "stone"]
LABELS = ["apple", "orange", "Fruit", "Meat", "Solid", "beef", "milk", "Food", "stone", "FRUIT"]
Listed = dict[tuple[int, str], int]  # (user, concept) -> count


@pytest.fixture(scope="module", autouse=True)
def _two_users_at_once() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(concepts, "_USERS_AT_ONCE", 2)
        yield


@pytest.fixture(scope="module")
def food(tmp_path_factory: pytest.TempPathFactory) -> Knowledge:
    path: Path = tmp_path_factory.mktemp("food") / "food.tsv"
    path.write_text("".join(f"{child}\t{parent}\n" for parent, children in FOOD.items() for child in children))
    return Knowledge(path)


def log_of(rows: list[tuple[str, str]]) -> QueryLog:
    return make_log(pl.Series([user for user, _ in rows]), pl.Series([query for _, query in rows]))


def listed_in(made: Anonymized) -> Listed:
    rows = made.release.queries
    assert rows is not None
    return dict(zip(zip(rows.pseudonym.tolist(), rows.query.to_list(), strict=True), rows.count.tolist(), strict=True))


def republished(made: Anonymized, listed: Listed, log: QueryLog) -> Anonymized:
    """The same users with other concepts; profiles, flags and counts are made to fit, as an adversary would."""
    pseudonym = np.array([row for row, _ in listed], dtype=np.int32)
    labels = sorted({concept for _, concept in listed})
    column = np.array([labels.index(concept) for _, concept in listed], dtype=np.int64)
    count = np.array(list(listed.values()), dtype=np.int64)
    degree = np.bincount(column, minlength=len(labels))[column]
    weights = csr_array((count.astype(float), (pseudonym, column)), shape=(len(made.release), len(labels)))
    flags = np.array([label != label.lower() for label in labels], dtype=bool)
    queries = ReleasedQueries(pseudonym, pl.Series([c for _, c in listed], dtype=pl.String), count, degree)
    release = replace(made.release, weights=weights, labels=labels, generalized=flags, queries=queries)
    return replace(made, release=release, suppressed=Suppressed(len(log) - int(count.sum()), made.suppressed.users))


def judge(made: Anonymized, log: QueryLog, known: Knowledge) -> Verdict:
    return verify(made.claim, Evidence(made.release, made.assignment, made.suppressed, log, known))


@pytest.fixture
def log() -> QueryLog:
    """Everybody asks for an apple and an orange, ann for both at once."""
    return log_of([("ann", "apple orange"), *((user, word) for user in ("bob", "cid") for word in ("apple", "orange"))])


@pytest.fixture
def made(log: QueryLog, food: Knowledge) -> Anonymized:
    return WordnetQueries(food, k=2).anonymize(log)


def test_the_true_release_is_accepted_and_so_is_the_same_written_anew(
    made: Anonymized, log: QueryLog, food: Knowledge
) -> None:
    assert judge(made, log, food).holds
    assert judge(republished(made, listed_in(made), log), log, food).holds


def test_one_query_that_stands_for_two_concepts_is_rejected(made: Anonymized, log: QueryLog, food: Knowledge) -> None:
    ann = int(made.assignment.profile[made.assignment.user.tolist().index(0)])
    listed = listed_in(made) | {(ann, "apple"): 1, (ann, "orange"): 1}
    verdict = judge(republished(made, listed, log), log, food)
    assert not verdict.holds
    assert "did not type as many queries" in verdict.counterexample


def test_a_concept_of_fewer_than_k_users_is_rejected(made: Anonymized, log: QueryLog, food: Knowledge) -> None:
    strict = replace(made, claim=replace(made.claim, values={"k": 4}))
    assert "users release it" in judge(strict, log, food).counterexample


@pytest.mark.parametrize("label", ["Food", "FRUIT", "fruit", "Apple", "stone"])
def test_what_is_no_concept_below_the_root_as_the_taxonomy_spells_it_is_rejected(
    made: Anonymized, log: QueryLog, food: Knowledge, label: str
) -> None:
    listed = {(row, label if concept == "apple" else concept): n for (row, concept), n in listed_in(made).items()}
    verdict = judge(republished(made, listed, log), log, food)
    assert not verdict.holds
    assert label in verdict.counterexample


def test_a_concept_without_its_flag_is_rejected(log: QueryLog, food: Knowledge) -> None:
    made = WordnetQueries(food, k=3).anonymize(log)
    assert made.release.generalized.any()
    wrong = replace(made, release=replace(made.release, generalized=~made.release.generalized))
    assert "generalized" in judge(wrong, log, food).counterexample


def test_a_profile_that_its_concepts_do_not_make_is_rejected(made: Anonymized, log: QueryLog, food: Knowledge) -> None:
    doubled = replace(made, release=replace(made.release, weights=csr_array(made.release.weights * 2)))
    assert "its concepts make" in judge(doubled, log, food).counterexample


LOGS = st.lists(
    st.tuples(st.sampled_from("abcd"), st.lists(st.sampled_from(WORDS), min_size=1, max_size=3).map(" ".join)),
    min_size=4,
    max_size=14,
)
CHANGES = st.lists(st.tuples(*[st.integers(0, 30)] * 3), min_size=1, max_size=3)


@examples(300)
@given(rows=LOGS, changes=CHANGES)
def test_what_is_accepted_after_any_change_is_what_the_literal_definition_accepts(
    food: Knowledge, rows: list[tuple[str, str]], changes: list[tuple[int, int, int]]
) -> None:
    """A change takes a concept from a user, or gives one to a user, or both; all else is made to fit."""
    log = log_of(rows)
    if len(log.users) < 2:
        return
    made = WordnetQueries(food, k=2).anonymize(log)
    listed = Counter(listed_in(made))
    for out, into, who in changes:
        if listed and out % 3:
            listed[sorted(listed)[out % len(listed)]] -= 1
        if len(made.release) and into % 4:
            listed[who % len(made.release), LABELS[into % len(LABELS)]] += 1
        listed = +listed
    mutant = republished(made, dict(listed), log)
    evidence = Evidence(mutant.release, mutant.assignment, mutant.suppressed, log, food)
    assert verify(mutant.claim, evidence).holds == is_true(mutant.claim, evidence)
