"""Are the marks of the strip those of the evaluation, and does the dial take what was measured?"""

from dataclasses import replace
from datetime import UTC, datetime

import numpy as np
import pytest
from flask import Flask
from flask.testing import FlaskClient
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from shoal.anonymizer.claims import Verdict
from shoal.anonymizer.registry import make_method
from shoal.evaluation.measures.precision import share_kept
from shoal.evaluation.protocol.precision import Trial, choose_queries
from shoal.evaluation.protocol.truth import truth_of_profiles
from shoal.search.vectors import own_profiles
from shoal.webapp.core.dial import RISKS, choose
from shoal.webapp.core.releases import ReleaseSummary
from shoal.webapp.core.service import SearchService
from shoal.webapp.searcher.search import everybody


def test_the_three_marks_are_those_of_the_evaluation_on_the_same_queries(client: FlaskClient, app: Flask) -> None:
    here: SearchService = app.extensions["shoal.service"]
    people = here.people.find(limit=5)
    events = here.log.select(np.isin(here.log.user, [person.row for person in people]))
    queries = choose_queries(events, here.index, per_user=4)
    trial = Trial(queries, here.log.users, own_profiles(here.profiles, here.index.vectors), here.index)
    truth = truth_of_profiles(queries, trial.own, here.index)
    current = app.extensions["shoal.releases"].current().stored
    method = make_method("everyone", {}, here.knowledge)
    average = method.run(here.log)
    made = {"ap10": (current.release, current.assignment), "everyone": (average.release, average.assignment)}
    cosine = {name: trial.cosines(method, *one) for name, one in made.items()}
    cosine["plain"] = np.zeros(queries.documents.shape)
    texts = events.queries.gather(queries.query).to_list()
    served = [_quality(client, here.people.at(int(u)).key, text) for u, text in zip(queries.user, texts, strict=True)]
    assert len(served) > 10
    for name, values in cosine.items():
        mine = np.array([one[name] for one in served])
        by_user = [mine[queries.user == user].mean() for user in truth.users]
        np.testing.assert_allclose(by_user, truth.scores(values)["ap10"], atol=5e-4)
    for one in served:
        assert one["own"] == 1
        assert one["kept"] == pytest.approx(share_kept(one["ap10"], max(one["plain"], one["everyone"])))


def _quality(client: FlaskClient, user: str, query: str) -> dict[str, float]:
    """At any weight: the evaluation ranks by the profile alone."""
    found: dict[str, float] = client.get("/api/v1/search", query_string={"q": query, "user": user, "weight": 0.3}).json[
        "quality"
    ]
    return found


def test_the_page_shows_the_marks_that_the_api_gives(client: FlaskClient, app: Flask, someone: str) -> None:
    told = _quality(client, someone, "climate change")
    page = client.get("/search", query_string={"q": "climate change", "user": someone}).text
    for word, name in (("plain", "plain"), ("this group", "ap10")):
        assert f"{word} <b>{told[name]:.2f}</b>" in page
    release = app.extensions["shoal.releases"].current()
    everyone = everybody(release)
    assert everyone is not None
    assert f"groups <b>{release.measured['ap10']:.2f}</b>" in page
    assert share_kept(everyone.ap10, everyone.free) == pytest.approx(release.measured["kept"], abs=1e-5)


def summary(number: int, method: str, risk: float, kept: float | None, holds: bool = True) -> ReleaseSummary:
    measured = {"linkage5": risk} | ({} if kept is None else {"kept": kept})
    return ReleaseSummary(f"r{number}", method, {}, method, measured, Verdict(holds), datetime.now(UTC))


MADE = st.tuples(
    st.sampled_from(["clump", "everyone", "plain"]), st.sampled_from((0, 0.01, 0.04, 0.3)), st.floats(-1, 1)
)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(MADE, max_size=5), st.sampled_from(RISKS))
def test_the_dial_never_takes_more_risk_and_never_keeps_less_than_another(
    made: list[tuple[str, float, float]], risk: int
) -> None:
    listed = [summary(i, *one) for i, one in enumerate(made)]
    choice = choose([*listed, summary(99, "clump", 0.0, None), summary(98, "clump", 0.0, 1.0, holds=False)], risk)
    within = [one for one in listed if one.measured["linkage5"] <= risk / 100]
    assert (choice.release is None) == (not within)
    if choice.release is not None:
        assert choice.release in within
        assert choice.release.measured["kept"] == max(one.measured["kept"] for one in within)
        assert not (choice.keeps_more and choice.release.method != "clump")


def with_interval(number: int, method: str, kept: float, low: float, high: float) -> ReleaseSummary:
    made = summary(number, method, 0.01, kept)
    return replace(made, title=f"{method} {number}", measured={**made.measured, "kept_low": low, "kept_high": high})


BEST = with_interval(1, "linkability", 0.34, 0.27, 0.42)


def test_the_dial_names_what_may_keep_as_much_one_of_each_method() -> None:
    others = [
        with_interval(2, "ssc", 0.27, 0.20, 0.35),  # reaches into the best
        with_interval(3, "ssc", 0.25, 0.19, 0.30),  # so does this, of the same method
        with_interval(4, "linkability", 0.33, 0.26, 0.41),  # the method that is taken
        with_interval(5, "random", 0.02, -0.04, 0.08),  # below all of the best
        with_interval(6, "everyone", 0.0, -0.5, 0.5),  # what needs nothing is told otherwise
    ]
    choice = choose([*others, BEST], 5)
    assert choice.release is BEST
    assert [one.release_id for one in choice.tied] == ["r2"]
    assert choice.is_clear


def test_what_may_be_luck_is_not_clear() -> None:
    assert not choose([with_interval(1, "ssc", 0.04, -0.02, 0.10)], 5).is_clear
    assert choose([with_interval(1, "ssc", 0.04, 0.01, 0.07)], 5).is_clear
    assert not choose([with_interval(1, "everyone", 0.04, 0.01, 0.07)], 5).is_clear


@pytest.mark.parametrize(
    ("low", "others", "says"),
    [
        (0.27, [with_interval(2, "ssc", 0.27, 0.20, 0.35)], "1 other may keep as much"),
        (0.27, [], "No other method made so far keeps as much"),
        (-0.01, [], "Whether that beats everyone’s average cannot be told"),
    ],
)
def test_the_page_says_what_the_dial_does_not_know(
    client: FlaskClient, app: Flask, someone: str, monkeypatch: pytest.MonkeyPatch, low: float,
    others: list[ReleaseSummary], says: str,
) -> None:  # fmt: skip
    releases = app.extensions["shoal.releases"]
    current = releases.current()
    told = {"linkage5": 0.04, "kept": 0.34, "kept_low": low, "kept_high": 0.42, "anonymity_min": 6.0}
    best = replace(current, measured={**current.measured, **told, "linkage5_low": 0.035, "linkage5_high": 0.052})
    monkeypatch.setattr(releases, "listed", lambda **_: [best, *others])
    monkeypatch.setattr(releases, "get", lambda release_id, **_: best)
    page = client.get("/search", query_string={"q": "climate change", "user": someone, "risk": 5}).text
    assert says in page
    assert f"({max(0, 100 * low):.0f} to 42 %)" in page
    assert "(3.5 to 5.2)" in page
    assert "smallest group has 6 people" in page
    assert ("which keeps more cannot be told" in page) == bool(others)
    told_api = client.get("/api/v1/dial", query_string={"risk": 5}).json
    assert (told_api["is_clear"], told_api["tied"]) == (low > 0, [one.release_id for one in others])


def test_at_a_risk_that_nothing_reaches_no_profile_is_used(
    client: FlaskClient, app: Flask, someone: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    releases = app.extensions["shoal.releases"]
    current = releases.current()
    measured = {**current.measured, "linkage5": 0.04, "kept": 0.3}
    monkeypatch.setattr(releases, "listed", lambda **_: [replace_measured(current, measured)])
    asked = {"q": "climate change", "user": someone}
    for risk, kinds in ((5, ["plain", "personalized", "anonymized"]), (2, ["plain", "personalized"])):
        columns = client.get("/api/v1/search", query_string={**asked, "risk": risk}).json["columns"]
        assert [column["kind"] for column in columns] == kinds
        found = current.release_id if risk == 5 else None
        assert client.get("/api/v1/dial", query_string={"risk": risk}).json["release_id"] == found
    page = client.get("/search", query_string={**asked, "risk": 2}).text
    assert "the safest finds 4 in 100" in page
    assert client.get("/search", query_string={**asked, "risk": 3}).status_code == 400


def test_the_dial_says_when_nothing_beats_everyones_average(
    client: FlaskClient, app: Flask, someone: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    releases = app.extensions["shoal.releases"]
    current = releases.current()
    worse = replace_measured(current, {**current.measured, "linkage5": 0.04, "kept": -0.1})
    monkeypatch.setattr(releases, "listed", lambda **_: [worse])
    page = client.get("/search", query_string={"q": "climate change", "user": someone, "risk": 5}).text
    assert "Nothing made so far beats everyone’s average at 5 in 100" in page
    assert client.get("/api/v1/dial", query_string={"risk": 5}).json["keeps_more"] is False


def replace_measured(release: ReleaseSummary, measured: dict[str, float]) -> ReleaseSummary:
    return replace(release, measured=measured)
