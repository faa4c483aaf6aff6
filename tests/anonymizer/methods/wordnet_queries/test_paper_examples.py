"""Does wordnet-queries generalize single queries as section 4.4.1 of Carpineto & Romano says?"""

import polars as pl

from shoal.anonymizer.base import Anonymized
from shoal.anonymizer.methods.wordnet_queries import WordnetQueries
from shoal.corpus.querylog import make_log


def release(asked: dict[str, list[str]], k: int) -> Anonymized:
    rows = [(user, query) for user, queries in asked.items() for query in queries]
    log = make_log(pl.Series([user for user, _ in rows]), pl.Series([query for _, query in rows]))
    return WordnetQueries(k=k).anonymize(log)


def concepts(made: Anonymized) -> dict[str, int]:
    assert made.release.queries is not None
    return dict(zip(made.release.queries.query, made.release.queries.degree.tolist(), strict=True))


def test_two_queries_meet_at_their_lowest_common_concept() -> None:
    made = release({"ann": ["dog"], "bob": ["cat"]}, k=2)
    assert concepts(made) == {"carnivore.n.01": 2}
    assert made.release.profile(0) == {"carnivore.n.01": 1}
    assert made.release.generalized.all()


def test_a_word_of_k_users_is_published_as_it_is() -> None:
    made = release({"ann": ["dog food"], "bob": ["dogs"]}, k=2)
    assert made.release.labels == ["dog"]
    assert not made.release.generalized.any()


def test_a_query_that_would_be_left_alone_keeps_the_others_with_it() -> None:
    made = release({"ann": ["dog food"], "bob": ["dogs"], "cid": ["cat"]}, k=2)
    assert concepts(made) == {"carnivore.n.01": 3}


def test_a_query_left_alone_is_joined_by_those_who_can_be_spared() -> None:
    made = release({"ann": ["dog"], "bob": ["dog", "dogs"], "cid": ["cat"], "dan": ["dog"], "eve": ["dogs"]}, k=2)
    assert concepts(made) == {"dog": 3, "carnivore.n.01": 3}


def test_one_term_in_common_is_enough() -> None:
    """Queries are grouped if at least one term of each can be generalized to the same concept."""
    assert concepts(release({"ann": ["guitar lessons"], "bob": ["cheap guitar"]}, k=2)) == {"guitar": 2}


def test_a_query_that_wordnet_does_not_know_stays_at_the_root_and_is_counted() -> None:
    made = release({"ann": ["dog", "zzyzxq"], "bob": ["dog"], "cid": ["zzyzxq", "zzyzxq"]}, k=2)
    assert concepts(made) == {"dog": 2}
    assert made.suppressed.occurrences == 3
    assert made.suppressed.users == 1


def test_every_query_is_in_one_concept_only() -> None:
    """Table 5: the clusters of a partition add up to the queries that WordNet knows."""
    made = release({user: ["red wine", "wine glass", "dog house"] for user in "abc"}, k=3)
    assert made.release.queries is not None
    assert made.release.queries.count.sum() == 9
    assert made.suppressed.occurrences == 0
