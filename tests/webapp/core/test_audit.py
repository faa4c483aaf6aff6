"""Is it written down who did what, with the act itself or not at all?"""

import pytest

from shoal.corpus.errors import Conflict
from shoal.webapp.core.audit import list_events, note, record
from shoal.webapp.database import Database


def test_acts_are_listed_the_last_first_by_kind_and_by_what_they_were_done_to(database: Database) -> None:
    record(database, "release.activate", "olga", "r1", {"note": "first"})
    record(database, "release.withdraw", "vera", "r1")
    record(database, "login", "olga")
    assert [event.action for event in list_events(database)] == ["login", "release.withdraw", "release.activate"]
    assert [event.account for event in list_events(database, action="release.")] == ["vera", "olga"]
    (first,) = list_events(database, action="release.activate", subject="r1")
    assert first.details == {"note": "first"}
    assert len(list_events(database, limit=2)) == 2


def test_an_act_that_fails_is_not_written_down(database: Database) -> None:
    def activate() -> None:
        with database.writing() as session:
            note(session, "release.activate", "olga", "r1")
            raise Conflict("it was another's turn")

    with pytest.raises(Conflict):
        activate()
    assert list_events(database) == []


def test_names_of_any_length_are_cut_to_what_a_database_holds(database: Database) -> None:
    record(database, "login", "o" * 500, "x" * 500)
    (event,) = list_events(database)
    assert (len(event.account), len(event.subject)) == (64, 200)
