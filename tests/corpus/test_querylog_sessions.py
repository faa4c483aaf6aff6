"""Are logs cut into sessions as Definition 1 of Liu & Wang 2010 says?"""

import numpy as np
import polars as pl
import pytest

from shoal.corpus.errors import InputError
from shoal.corpus.querylog import QueryLog, cut_sessions, make_log, sessions_as_users


def log_of(*events: tuple[str, int]) -> QueryLog:
    users = pl.Series([user for user, _ in events], dtype=pl.String)
    queries = pl.Series([f"query {x}" for x in range(len(events))], dtype=pl.String)
    return make_log(users, queries, np.array([60 * minute for _, minute in events], dtype=np.int64))


def test_a_session_ends_where_more_than_the_gap_passes() -> None:
    sessions = cut_sessions(log_of(("a", 0), ("a", 30), ("a", 61), ("b", 61)), 30)
    assert sessions.start.tolist() == [0, 2, 3, 4]
    assert sessions.user.tolist() == [0, 0, 1]


def test_a_new_user_begins_a_new_session_at_any_time() -> None:
    assert len(cut_sessions(log_of(("a", 5), ("b", 5), ("c", 5)), 10**6)) == 3


def test_every_event_is_in_one_session_and_sessions_can_stand_for_users() -> None:
    log = log_of(("a", 0), ("a", 100), ("b", 7), ("b", 8))
    as_users = sessions_as_users(log, cut_sessions(log, 30))
    assert as_users.users.to_list() == ["0", "1", "2"]
    assert np.diff(as_users.start).tolist() == [1, 1, 2]
    assert as_users.user.tolist() == [0, 1, 2, 2]


def test_an_empty_log_has_no_session() -> None:
    assert len(cut_sessions(log_of(), 30)) == 0


def test_a_log_without_times_cannot_be_cut() -> None:
    log = make_log(pl.Series(["a"]), pl.Series(["wine"]))
    with pytest.raises(InputError, match="no time"):
        cut_sessions(log, 30)
