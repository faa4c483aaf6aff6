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
from shoal.webapp.searcher.strip import everybody


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
