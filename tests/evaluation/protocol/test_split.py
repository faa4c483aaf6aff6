"""Is nothing of the test in the part that profiles are made from?"""

import numpy as np
import polars as pl
from hypothesis import given
from hypothesis import strategies as st

from shoal.corpus.knowledge import Knowledge
from shoal.corpus.profiles import build_profiles
from shoal.corpus.querylog import QueryLog, make_log
from shoal.evaluation.protocol.workload import split_by_time
from tests.examples import examples


def log_of(rows: list[tuple[str, str, int]]) -> QueryLog:
    user, query, time = ([row[i] for row in rows] for i in range(3))
    return make_log(pl.Series(user, dtype=pl.String), pl.Series(query, dtype=pl.String), np.array(time, dtype=np.int64))


def test_the_first_seven_of_ten_events_make_the_profile() -> None:
    log = log_of([("u", f"query {i}", 100 - i) for i in range(10)])
    train, test = split_by_time(log)
    asked = [train.queries[int(q)] for q in train.query]
    assert asked == [f"query {i}" for i in range(9, 2, -1)]
    assert [test.queries[int(q)] for q in test.query] == ["query 2", "query 1", "query 0"]


def test_a_word_that_is_only_in_the_test_part_cannot_be_found_in_the_other() -> None:
    rows = [("u", "wine", i) for i in range(7)] + [("u", "canary", i) for i in range(7, 10)]
    train, test = split_by_time(log_of([*rows, *(("v", "milk", i) for i in range(4))]))
    assert "canary" not in train.queries.to_list()
    assert "canary" not in train.tokens.vocabulary
    assert "canary" not in build_profiles(train, Knowledge().words).terms
    assert "canary" in test.queries.to_list()


@examples(50)
@given(st.lists(st.integers(0, 15), min_size=1, max_size=6))
def test_every_event_is_in_one_part_and_profiles_come_first(counts: list[int]) -> None:
    rows = [(f"u{u}", f"q{u}-{i}", i) for u, count in enumerate(counts) for i in range(count)]
    log = log_of(rows)
    train, test = split_by_time(log)
    assert len(train) + len(test) == len(log)
    assert train.users.to_list() == test.users.to_list() == log.users.to_list()
    for u in range(len(log.users)):
        early, late = train.time[train.user == u], test.time[test.user == u]
        assert len(early) == int(np.ceil(round(0.7 * (len(early) + len(late)), 9)))
        assert not len(late) or early.max() < late.min()


def test_other_test_events_leave_the_profile_part_as_it_is_to_the_byte() -> None:
    early = [(f"u{u}", f"query {u * i % 5}", i) for u in range(4) for i in range(7)]
    # The first user's test asks, before anyone else, what the others ask in their profile parts.
    late = [(f"u{u}", f"query {4 - i % 5}", i) for u in range(4) for i in range(7, 10)]
    other = [(f"u{u}", f"canary {u} {i}", i) for u in range(4) for i in range(7, 10)]
    one, two = split_by_time(log_of([*early, *late])), split_by_time(log_of([*early, *other]))
    assert one[0].digest() == two[0].digest()
    assert one[1].digest() != two[1].digest()
