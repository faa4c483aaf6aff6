"""Do the columns of a log say what its rows said?"""

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.corpus import querylog
from shoal.corpus.querylog import QueryLog, make_log
from tests.examples import examples

Rows = list[tuple[str, str, int, str]]
rows_of_logs = st.lists(
    st.tuples(
        st.sampled_from(["a", "b", "c"]),
        st.sampled_from(["x", "y z"]),
        st.integers(0, 5),
        st.sampled_from(["", "u", "v"]),
    ),
    min_size=1,
    max_size=20,
)


def log_of(rows: Rows) -> QueryLog:
    users, queries, times, urls = (list(column) for column in zip(*rows, strict=True))
    return make_log(pl.Series(users), pl.Series(queries), np.array(times), pl.Series(urls))


def events(log: QueryLog) -> list[tuple[str, str, int]]:
    return [
        (log.users[int(u)], log.queries[int(q)], int(t)) for u, q, t in zip(log.user, log.query, log.time, strict=True)
    ]


def test_several_clicks_on_one_answer_are_one_event() -> None:
    log = log_of([("a", "x", 1, "u"), ("a", "x", 1, "v"), ("a", "x", 2, "u"), ("a", "x", 3, ""), ("a", "x", 3, "")])
    assert events(log) == [("a", "x", 1), ("a", "x", 2), ("a", "x", 3), ("a", "x", 3)]
    assert [(int(e), log.urls[int(u)]) for e, u in zip(log.click_event, log.click_url, strict=True)] == [
        (0, "u"), (0, "v"), (1, "u"),
    ]  # fmt: skip


@examples(200)
@given(rows_of_logs)
def test_no_event_is_lost_and_users_are_sorted_by_time(rows: Rows) -> None:
    log = log_of(rows)
    assert set(events(log)) == {(user, query, time) for user, query, time, _ in rows}
    for u in range(len(log.users)):
        assert np.all(np.diff(log.time[log.start[u] : log.start[u + 1]]) >= 0)


@examples(200)
@given(rows_of_logs, st.data())
def test_a_selection_holds_the_chosen_events_and_their_clicks(rows: Rows, data: st.DataObject) -> None:
    log = log_of(rows)
    keep = np.array(data.draw(st.lists(st.booleans(), min_size=len(log), max_size=len(log))), dtype=bool)
    part = log.select(keep)
    assert events(part) == [event for event, kept in zip(events(log), keep, strict=True) if kept]
    clicks = [(int(e), int(u)) for e, u in zip(log.click_event, log.click_url, strict=True) if keep[e]]
    renumbered = np.cumsum(keep) - 1
    assert [(int(renumbered[e]), u) for e, u in clicks] == list(
        zip(part.click_event.tolist(), part.click_url.tolist(), strict=True)
    )


def test_the_log_of_some_users_is_theirs_alone() -> None:
    log = log_of([("a", "x", 1, ""), ("b", "y z", 2, "u"), ("c", "x", 3, "v")])
    part = log.for_users(np.array([1, 2]))
    assert events(part) == [("b", "y z", 2), ("c", "x", 3)]
    assert part.click_event.tolist() == [0, 1]


def test_the_digest_tells_logs_apart_but_not_how_they_were_packed() -> None:
    rows: Rows = [("a", "x", 1, ""), ("b", "y z", 2, "u")]
    assert log_of(rows).digest() == log_of(list(rows)).digest()
    assert log_of(rows).digest() != log_of([("a", "x", 1, ""), ("b", "y z", 2, "v")]).digest()


def test_the_digest_does_not_depend_on_how_many_strings_are_taken_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    log = log_of([("a", "x", 1, "u"), ("a", "", 2, ""), ("b", "zoë", 3, "v")])
    before = log.digest()
    monkeypatch.setattr(querylog, "_STRINGS_AT_ONCE", 1)
    assert log.digest() == before
