"""Has each topic of a user a pseudonym of its own, and is what is not so refused?"""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array

from shoal.anonymizer.base import Anonymized
from shoal.anonymizer.claims import Evidence, Verdict, verify
from shoal.anonymizer.contract.literal import is_true
from shoal.anonymizer.contract.sample_logs import log_of
from shoal.anonymizer.methods.split_personality import SplitPersonality
from shoal.anonymizer.publish import publish
from shoal.corpus.knowledge import Knowledge
from shoal.corpus.querylog import QueryLog
from shoal.evaluation.measures.release import MeasuredRelease, measure_release
from tests.examples import examples

EDGES = "wine Drinks, beer Drinks, cheese Food, car Vehicles, truck Vehicles, Drinks Edibles, Food Edibles, "
EDGES += "Edibles Things, Vehicles Things"
ASKED = {"ann": ["wine", "red wine beer", "car", "zzyzxq"], "bob": ["cheese wine", "truck", "truck"], "eve": ["+++"]}
LOG = log_of([(user, query) for user, queries in ASKED.items() for query in queries])


@pytest.fixture(scope="module")
def goods(tmp_path_factory: pytest.TempPathFactory) -> Knowledge:
    tree: Path = tmp_path_factory.mktemp("tree") / "goods.tsv"
    tree.write_text("".join(edge.replace(" ", "\t") + "\n" for edge in EDGES.split(", ")))
    return Knowledge(tree, dictionary_name="any")


def verdict(made: Anonymized, knowledge: Knowledge, log: QueryLog = LOG) -> Verdict:
    evidence = Evidence(made.release, made.assignment, made.suppressed, log, knowledge)
    found = verify(made.claim, evidence)
    assert found.holds == is_true(made.claim, evidence)
    return found


def profiles_of(made: Anonymized) -> dict[str, list[dict[str, float]]]:
    held: dict[str, list[dict[str, float]]] = {}
    for user, row in zip(made.assignment.user.tolist(), made.assignment.profile.tolist(), strict=True):
        held.setdefault(made.assignment.users[user], []).append(made.release.profile(row))
    return {user: sorted(some, key=str) for user, some in held.items()}


def test_each_topic_has_a_pseudonym_and_queries_without_a_topic_are_together(goods: Knowledge) -> None:
    made = SplitPersonality(goods, topics=1).run(LOG)
    assert profiles_of(made) == {
        "ann": [{"beer": 1, "red": 1, "wine": 2}, {"car": 1}, {"zzyzxq": 1}],
        "bob": [{"cheese": 1, "wine": 1}, {"truck": 2}],
    }
    assert made.suppressed.users == 1
    assert verdict(made, goods).holds


def test_a_tie_goes_to_the_topic_whose_name_is_first(goods: Knowledge) -> None:
    """Cheese is Edibles/Food and wine is Edibles/Drinks: at level 2 the query "cheese wine" is about drinks."""
    asked = log_of([("bob", "cheese wine"), ("bob", "beer"), ("bob", "cheese")])
    made = SplitPersonality(goods, topics=2).run(asked)
    assert profiles_of(made) == {"bob": [{"beer": 1, "cheese": 1, "wine": 1}, {"cheese": 1}]}


words = st.sampled_from("wine beer cheese car truck red zzyzxq".split())
queries = st.lists(words, max_size=4).map(" ".join)


@given(st.lists(st.tuples(st.sampled_from(["ann", "bob"]), queries), max_size=12), st.integers(1, 4))
@examples(90)
def test_whatever_was_asked_the_literal_definition_holds(
    goods: Knowledge, rows: list[tuple[str, str]], topics: int
) -> None:
    log = log_of(rows)
    assert verdict(SplitPersonality(goods, topics=topics).run(log), goods, log).holds


def test_pseudonyms_that_join_topics_or_miss_one_are_refused(goods: Knowledge) -> None:
    made = SplitPersonality(goods, topics=1).run(LOG)
    users = np.array([0, 1])
    joined = csr_array(made.assignment.pairs(len(made.release))[:2] @ made.release.weights)
    own = publish(LOG.users, (users, users), joined, made.release.labels, made.claim, made.suppressed)
    assert "asked about 3 topics" in verdict(own, goods).counterexample
    gone = replace(made.assignment, user=made.assignment.user[1:], profile=made.assignment.profile[1:])
    assert not verify(made.claim, Evidence(made.release, gone, made.suppressed, LOG, goods)).holds
    doubled = replace(made, release=replace(made.release, weights=csr_array(2 * made.release.weights)))
    assert not verdict(doubled, goods).holds


def test_pseudonyms_seen_together_give_people_away_more_surely_than_one_alone(goods: Knowledge) -> None:
    rng = np.random.default_rng(1)
    names = "wine beer cheese car truck".split()
    rows = [(f"user{u}", " ".join(rng.choice(names, 2))) for u in range(30) for _ in range(6)]
    rows += [(f"user{u}", f"zz{u % 7}") for u in range(30)]
    log = log_of(rows)
    made = SplitPersonality(goods, topics=1).run(log)
    found = measure_release(MeasuredRelease(made.release, made.assignment, log, goods), ["linkage5", "linkage_sum"])
    assert found["linkage5"] < found["linkage_sum"]
