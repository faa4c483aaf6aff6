"""Does the gate let through only what the operator allows, and ask the more the more is at stake?"""

from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from sqlalchemy import select

from shoal.anonymizer.base import Catalogue
from shoal.anonymizer.registry import make_method
from shoal.corpus.errors import InputError
from shoal.corpus.querylog import make_log
from shoal.webapp.core.activation import activate, findings_of, get_release, roll_back
from shoal.webapp.core.audit import list_events
from shoal.webapp.core.gate import Consent, NeedsConfirmation, Policy, read_policy, set_policy
from shoal.webapp.core.releases import ActiveReleases
from shoal.webapp.database import Proposal
from shoal.webapp.jobs.measures import count_exposure
from tests.webapp.instances import Desk, quick_release

YES = Consent("olga", "measured twice", confirmed=True)


@pytest.fixture
def real(desk: Desk) -> ActiveReleases:
    """The releases of the small log, as if its people were real."""
    return replace(desk.releases, of_real_people=True)


def why(releases: ActiveReleases, release_id: str) -> str:
    return " ".join(findings_of(releases, get_release(releases.database, release_id)).reasons)


def typed(release_id: str, account: str = "olga") -> Consent:
    return Consent(account, "measured twice", typed=release_id)


def test_what_is_within_the_limits_passes_without_a_question(desk: Desk, real: ActiveReleases) -> None:
    safe = quick_release(desk, risk=0.1, terms=[0, 0, 0, 0, 7])
    assert why(real, safe) == ""
    assert activate(real, safe, Consent("olga"))
    assert real.current_id() == safe


@pytest.mark.parametrize(
    ("shown", "words"),
    [
        ({"risk": 0.17}, "17 in 100 people are found by whoever knows five of their terms; the ceiling is 10 in 100"),
        ({"alone": 3}, "3 people are alone with a published profile"),
        ({"terms": [4, 1, 0, 1]}, "6 terms that fewer than 5 people typed"),
        ({"terms": [2], "queries": [0, 9]}, "2 terms and 9 queries that fewer than 5 people typed"),
    ],
)
def test_above_a_limit_real_people_need_a_reason_and_the_id_typed_out(
    desk: Desk, real: ActiveReleases, shown: dict[str, object], words: str
) -> None:
    risky = quick_release(desk, **shown)  # type: ignore[arg-type]
    assert words in why(real, risky)
    for consent in (Consent("olga"), YES, Consent("olga", "", typed=risky), typed("r999")):
        with pytest.raises(NeedsConfirmation, match="needs a reason and its id typed out"):
            activate(real, risky, consent)
        assert real.current_id() is None
    assert activate(real, risky, typed(risky))
    assert real.current_id() == risky
    (event,) = list_events(desk.database, action="release.activate")
    assert (event.account, event.details["note"], event.details["typed"]) == ("olga", "measured twice", True)


def test_simulated_people_pass_with_the_numbers_shown_and_alone_by_one_click(desk: Desk) -> None:
    risky, alone = quick_release(desk, risk=0.9, terms=[5]), quick_release(desk, alone=2)
    assert "90 in 100" in why(desk.releases, risky)
    assert activate(desk.releases, risky, Consent("olga"))
    with pytest.raises(NeedsConfirmation, match="2 people are alone"):
        activate(desk.releases, alone, Consent("olga"))
    assert activate(desk.releases, alone, YES)


def test_a_release_that_publishes_nothing_needs_nobody(desk: Desk, real: ActiveReleases) -> None:
    assert activate(real, quick_release(desk, risk=1.0, groups=0), Consent())


def test_releases_that_are_public_at_once_are_counted(desk: Desk, real: ActiveReleases) -> None:
    first, second, third = (quick_release(desk) for _ in range(3))
    for release_id in (first, second):
        assert activate(real, release_id, Consent("olga"))
    assert "2 other releases of this log are public" in why(real, third)
    with pytest.raises(NeedsConfirmation):
        activate(real, third, Consent("olga"))
    set_policy(desk.database, Policy(most_public=3), "olga")
    assert activate(real, third, Consent("olga"))


def test_the_way_back_passes_the_same_gate(desk: Desk, real: ActiveReleases) -> None:
    risky, safe = quick_release(desk, risk=0.5), quick_release(desk)
    activate(real, risky, typed(risky))
    activate(real, safe, Consent("olga"))
    with pytest.raises(NeedsConfirmation):
        roll_back(real, Consent("olga"))
    assert real.current_id() == safe
    assert roll_back(real, typed(risky)) == risky


def test_with_a_second_operator_an_activation_waits_until_another_account_confirms(
    desk: Desk, real: ActiveReleases
) -> None:
    set_policy(desk.database, Policy(second=True), "olga")
    risky, safe = quick_release(desk, risk=0.5), quick_release(desk)
    assert activate(real, safe, Consent("olga"))  # nothing is above the limits
    for _ in range(2):
        assert not activate(real, risky, typed(risky))
        assert real.current_id() == safe
    with pytest.raises(NeedsConfirmation):
        activate(real, risky, Consent("vera"))
    assert activate(real, risky, typed(risky, "vera"))
    assert real.current_id() == risky
    with desk.database.reading() as session:
        assert session.scalars(select(Proposal)).all() == []
    assert [event.account for event in list_events(desk.database, action="release.propose")] == ["olga", "olga"]


def test_the_limits_are_set_once_for_all_and_written_down(desk: Desk) -> None:
    assert read_policy(desk.database) == Policy(ceiling=0.1, fewest=5, most_public=2, second=False)
    set_policy(desk.database, Policy(ceiling=0.02, fewest=8), "olga")
    assert read_policy(desk.database).fewest == 8
    (event,) = list_events(desk.database, action="policy.")
    assert (event.details["before"]["ceiling"], event.details["after"]["ceiling"]) == (0.1, 0.02)
    for wrong in (Policy(ceiling=1.5), Policy(ceiling=float("nan")), Policy(fewest=0), Policy(most_public=0)):
        with pytest.raises(InputError, match="is not allowed"):
            set_policy(desk.database, wrong, "olga")


def test_a_change_of_the_limits_holds_for_what_was_made_before(desk: Desk, real: ActiveReleases) -> None:
    release_id = quick_release(desk, risk=0.04, terms=[0, 0, 0, 0, 0, 3])
    assert why(real, release_id) == ""
    set_policy(desk.database, Policy(ceiling=0.02, fewest=8), "olga")
    assert "the ceiling is 2 in 100" in why(real, release_id)
    assert "3 terms that fewer than 8 people typed" in why(real, release_id)


def test_words_are_counted_by_how_many_people_typed_them() -> None:
    typed_by = {"anna": ["wine", "red wine"], "bert": ["wine"], "cleo": ["wine", "tango"]}
    rows = [(name, query) for name, queries in typed_by.items() for query in queries]
    users, queries = (pl.Series([row[i] for row in rows]) for i in (0, 1))
    log = make_log(users, queries)
    everyone = make_method("everyone", {})
    found = count_exposure(everyone.run(log).release, log, everyone.knowledge)
    assert found["alone"] == 0
    assert found["terms"][:4] == [2, 0, 1, 0]  # red and tango are one person's, wine is of three
    original = make_method("original", {})
    assert count_exposure(original.run(log).release, log, original.knowledge)["alone"] == 3
    plain = make_method("plain", {})
    shown = count_exposure(plain.run(log).release, log, plain.knowledge)
    assert (shown["groups"], sum(shown["terms"]), sum(shown["queries"])) == (0, 0, 0)


def test_a_catalogue_of_terms_is_published_too(desk: Desk, real: ActiveReleases) -> None:
    typed_by = {"anna": ["wine", "red wine"], "bert": ["wine"], "cleo": ["wine", "tango"]}
    rows = [(name, query) for name, queries in typed_by.items() for query in queries]
    log = make_log(*(pl.Series([row[i] for row in rows]) for i in (0, 1)))
    plain = make_method("plain", {})
    listed = Catalogue(["tango", "wine"], np.array([1, 3]), np.array([1.0, 2.0]))
    shown = count_exposure(replace(plain.run(log).release, catalogue=listed), log, plain.knowledge)
    assert (shown["groups"], shown["catalogue"], shown["terms"][:3]) == (0, 2, [1, 0, 1])
    assert "2 terms that fewer than 5 people typed" in why(real, quick_release(desk, **shown))


def test_published_queries_are_counted_too() -> None:
    asked = {"anna": ["wine", "wine", "rare plum"], "bert": ["wine", "wine", "blue tango"], "cleo": ["Wine", "wine"]}
    rows = [(name, query) for name, queries in asked.items() for query in queries]
    log = make_log(*(pl.Series([row[i] for row in rows]) for i in (0, 1)))
    method = make_method("microaggregation", {"k": 3})
    released = method.run(log).release
    assert released.queries is not None
    found = count_exposure(released, log, method.knowledge)["queries"]
    assert found[2] == 1  # wine, by all three
    assert sum(found) == released.queries.query.n_unique()
