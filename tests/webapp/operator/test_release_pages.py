"""Can an operator publish, take back and delete releases of real people by the panel and by programs, knowing what?"""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from flask.testing import FlaskClient

from shoal.webapp.core.accounts import create_account
from shoal.webapp.core.activation import offer
from shoal.webapp.core.audit import list_events
from shoal.webapp.core.gate import Policy, set_policy
from shoal.webapp.core.roles import OPERATOR
from shoal.webapp.database import Release
from tests.webapp.instances import PASSWORD, Desk, Panel, log_in, open_panel, quick_release


@pytest.fixture(scope="module")
def office(small_log: Path, tmp_path_factory: pytest.TempPathFactory, in_threads: set[Path]) -> Iterator[Panel]:
    """A panel over the people of the small log, who are real: the heading that says otherwise is left out."""
    log, instance = tmp_path_factory.mktemp("real") / "log.tsv", tmp_path_factory.mktemp("office")
    log.write_text("".join(small_log.read_text().splitlines(keepends=True)[1:]))
    in_threads.add(instance)
    opened = open_panel(log, instance)
    create_account(opened.database, "vera", PASSWORD, OPERATOR)
    yield opened
    opened.database.close()


@pytest.fixture
def desk(office: Panel) -> Iterator[Desk]:
    yield Desk(office.database, office.settings, 1, office.releases)
    set_policy(office.database, Policy(most_public=1000), "olga")


def current(office: Panel) -> str | None:
    return office.releases.current_id()


def programs(client: FlaskClient) -> dict[str, str]:
    return {"X-CSRFToken": client.get("/api/v1/admin/session").json["csrf_token"]}


def test_the_page_shows_the_numbers_and_asks_for_a_reason_and_the_id(office: Panel, desk: Desk) -> None:
    risky = quick_release(desk, risk=0.42, alone=2, terms=[3, 1])
    page = office.client.get(f"/admin/releases/{risky}").text
    for words in ("42 in 100 people are found", "2 people are alone", "4 terms that fewer than 5 people typed"):
        assert words in page, words
    assert re.search(r'name="typed"[^>]* required', page)
    before = current(office)
    for form in ({}, {"confirmed": "yes"}, {"typed": risky}, {"note": "why not", "typed": "yes"}):
        answer = office.post(f"/admin/releases/{risky}/activate", **form)
        assert (answer.status_code, answer.location) == (303, f"/admin/releases/{risky}")
        assert current(office) == before
    assert office.post(f"/admin/releases/{risky}/activate", note="a trial", typed=risky).status_code == 302
    assert current(office) == risky
    assert "a trial" in office.client.get("/admin/history").text


def test_what_the_state_allows_is_what_there_are_buttons_for(office: Panel, desk: Desk) -> None:
    release_id = quick_release(desk)

    def buttons() -> set[str]:
        page = office.client.get(f"/admin/releases/{release_id}").text
        return set(re.findall(rf'action="/admin/releases/{release_id}/(activate|withdraw|delete)"', page))

    def acts() -> set[str]:
        return set(office.client.get(f"/api/v1/admin/releases/{release_id}").json["acts"])

    assert buttons() == acts() == {"activate", "delete"}
    office.post(f"/admin/releases/{release_id}/activate", note="because", typed=release_id)
    assert buttons() == acts() == {"withdraw"}
    office.post(f"/admin/releases/{release_id}/withdraw")
    assert buttons() == acts() == {"delete"}
    assert office.post(f"/admin/releases/{release_id}/delete", typed="yes").status_code == 400
    assert office.post(f"/admin/releases/{release_id}/delete", typed=release_id).status_code == 302
    assert buttons() == acts() == set()
    assert "its id is not used again" in office.client.get(f"/admin/releases/{release_id}").text
    assert "what is left of release" in office.client.get(f"/admin/runs/{release_id[1:]}").text


def test_programs_are_told_what_to_send_and_everything_is_listed_with_its_state(office: Panel, desk: Desk) -> None:
    risky, client = quick_release(desk, risk=0.42), office.client
    header = programs(client)
    refused = client.post("/api/v1/admin/activations", json={"release_id": risky, "confirmed": True}, headers=header)
    assert refused.status_code == 409
    assert "Send note (a reason) and typed (the id)" in refused.json["error"]["message"]
    sent = {"release_id": risky, "note": "a trial", "typed": risky}
    assert client.post("/api/v1/admin/activations", json=sent, headers=header).json["active"] == risky
    assert client.get(f"/api/v1/admin/releases/{risky}").json["findings"]["risk"] == 0.42
    withdrawn = client.post(f"/api/v1/admin/releases/{risky}/withdraw", json={"note": "enough"}, headers=header)
    assert withdrawn.json["state"] == "withdrawn"
    assert client.get("/api/v1/admin/activations").json["active"] is None
    assert client.post("/api/v1/admin/activations", json=sent, headers=header).status_code == 410
    assert client.delete(f"/api/v1/admin/runs/{risky[1:]}", headers=header).status_code == 204
    listed = {one["release_id"]: one["state"] for one in client.get("/api/v1/admin/releases").json["releases"]}
    assert listed[risky] == "deleted"
    assert client.delete("/api/v1/admin/releases/r99999", headers=header).status_code == 404


def test_a_second_operator_confirms_what_the_first_asked_for(office: Panel, desk: Desk) -> None:
    set_policy(office.database, Policy(second=True, most_public=1000), "olga")
    risky, vera = quick_release(desk, risk=0.42), office.app.test_client()
    assert log_in(vera, "vera").status_code == 302
    office.post(f"/admin/releases/{risky}/activate", note="a trial", typed=risky)
    assert current(office) != risky
    page = vera.get(f"/admin/releases/{risky}").text
    assert "wants it activated: a trial" in page
    assert "It waits for you." in page
    sent = {"release_id": risky, "note": "I agree", "typed": risky}
    again = office.client.post("/api/v1/admin/activations", json=sent, headers=programs(office.client))
    assert again.status_code == 202
    assert current(office) != risky
    assert vera.post("/api/v1/admin/activations", json=sent, headers=programs(vera)).status_code == 200
    assert current(office) == risky


def test_going_back_to_what_is_above_the_ceiling_asks_too_and_says_what_it_withdraws(office: Panel, desk: Desk) -> None:
    first, second = quick_release(desk, risk=0.42), quick_release(desk, risk=0.43)
    for release_id in (first, second):
        office.post(f"/admin/releases/{release_id}/activate", note="a trial", typed=release_id)
    assert f"{second} is above the ceiling, so this withdraws it for good" in office.client.get("/admin/history").text
    asked = office.post("/admin/rollback")
    assert asked.location == f"/admin/releases/{first}?back=1"
    assert 'action="/admin/rollback"' in office.client.get(asked.location).text
    assert current(office) == second
    assert office.post("/admin/rollback", note="worse than I thought", typed=first).status_code == 302
    assert current(office) == first
    assert office.client.get(f"/api/v1/admin/releases/{second}").json["state"] == "withdrawn"


def test_an_administrator_sets_the_limits_and_nobody_else(office: Panel, desk: Desk) -> None:
    form = {"ceiling": "7.5", "fewest": "6", "most_public": "3", "second": "yes"}
    assert office.post("/admin/releases/policy", **form).status_code == 302
    told = office.client.get("/api/v1/admin/policy").json
    assert told == {"ceiling": 0.075, "fewest": 6, "most_public": 3, "second": True}
    assert 'value="7.5"' in office.client.get("/admin/releases").text
    for wrong in ({"ceiling": "many"}, {"ceiling": "101"}, {"ceiling": "nan"}, {"fewest": "0"}, {"most_public": "-1"}):
        assert office.post("/admin/releases/policy", **{**form, **wrong}).status_code == 400, wrong
    vera = office.app.test_client()
    log_in(vera, "vera")
    assert vera.put("/api/v1/admin/policy", json=told, headers=programs(vera)).status_code == 403
    assert "An administrator can change it" in vera.get("/admin/releases").text


def test_nothing_of_real_people_is_offered_by_the_server_itself(office: Panel, desk: Desk) -> None:
    risky = quick_release(desk, risk=0.42)
    with office.database.writing() as session:
        offer(session, session.get_one(Release, risky), real=True)
    assert risky not in [one.release_id for one in office.releases.listed(only_public=True)]
    assert [event.subject for event in list_events(office.database, action="release.keep-back")] == [risky]


def test_a_visitor_sees_nothing_of_what_was_withdrawn_not_even_that_it_was(office: Panel, desk: Desk) -> None:
    release_id = quick_release(desk, risk=0.42)
    office.post(f"/admin/releases/{release_id}/activate", note="a trial", typed=release_id)
    visitor = office.app.test_client()
    assert visitor.get(f"/api/v1/releases/{release_id}").status_code == 200
    office.post(f"/admin/releases/{release_id}/withdraw")
    for path in (f"/search?q=a&release={release_id}", f"/api/v1/releases/{release_id}/profiles", "/mine"):
        assert visitor.get(path).status_code == 404, path
    assert visitor.get("/api/v1/releases").json == {"current": "none", "releases": []}
