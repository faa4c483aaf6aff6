"""Who gets into the panel? Every route is asked for by strangers, with and without tokens."""

import re
from collections.abc import Iterator
from datetime import timedelta

import pytest
from flask.testing import FlaskClient
from sqlalchemy import select
from werkzeug.routing import Rule

from shoal.corpus.errors import InputError
from shoal.webapp import create_app
from shoal.webapp.core import login
from shoal.webapp.core.accounts import (
    change_password,
    check_password,
    create_account,
    create_first_account,
    find_visitor,
)
from shoal.webapp.core.settings import Settings
from shoal.webapp.database import Attempt, Database
from tests.webapp.instances import NAME, PASSWORD, Panel, log_in, token_of

OPEN = {("/admin/login", "GET"), ("/admin/login", "POST"), ("/api/v1/admin/session", "POST")}


def address(rule: Rule) -> str:
    """Something that the rule fits."""
    filled = {"number": "1", "log_id": "1", "release_id": "r1", "name": "profiles.jsonl", "id": "random"}
    return re.sub(r"<(?:\w+:)?(\w+)>", lambda found: filled[found[1]], rule.rule)


def admin_routes(panel: Panel) -> Iterator[tuple[str, str]]:
    for rule in panel.app.url_map.iter_rules():
        if "/admin" in rule.rule and not rule.rule.startswith("/static"):
            for method in sorted((rule.methods or set()) - {"OPTIONS", "HEAD"}):
                yield address(rule), method


def refused(client: FlaskClient, path: str, method: str, **more: object) -> bool:
    answer = client.open(path, method=method, buffered=True, **more)
    to_login = answer.status_code == 302 and answer.location.startswith("/admin/login")
    return to_login or answer.status_code in (400, 401, 403)


def test_every_route_of_the_panel_is_refused_to_strangers(quiet_panel: Panel) -> None:
    routes = set(admin_routes(quiet_panel)) - OPEN
    assert len(routes) > 35
    stranger = quiet_panel.app.test_client()
    assert [route for route in sorted(routes) if not refused(stranger, *route)] == []
    # Nor does a token help who is not logged in.
    form = {"csrf_token": token_of(stranger, "/admin/login")}
    assert [route for route in sorted(routes) if not refused(stranger, *route, data=form)] == []
    header = {"X-CSRFToken": form["csrf_token"]}
    assert [route for route in sorted(routes) if not refused(stranger, *route, headers=header)] == []


def test_a_made_up_session_is_refused(quiet_panel: Panel) -> None:
    client = quiet_panel.app.test_client()
    with client.session_transaction() as session:
        session["visit"] = "guessed"
    assert refused(client, "/admin/runs", "GET")
    assert client.get("/api/v1/admin/runs").status_code == 401


def test_every_change_without_a_token_is_refused_also_to_the_operator(quiet_panel: Panel) -> None:
    changes = [(path, method) for path, method in admin_routes(quiet_panel) if method != "GET"]
    assert len(changes) > 15
    for path, method in changes:
        answer = quiet_panel.client.open(path, method=method, data={"what": "run", "log": "1"})
        assert answer.status_code in (400, 415, 422), (path, method, answer.status_code)
    assert quiet_panel.client.get("/admin/runs").status_code == 200


def test_nothing_is_changed_by_reading(quiet_panel: Panel) -> None:
    before = quiet_panel.client.get("/api/v1/admin/runs").json, quiet_panel.client.get("/api/v1/admin/activations").json
    for path, method in admin_routes(quiet_panel):
        if method == "GET":
            assert quiet_panel.client.get(path, buffered=True).status_code in (200, 302, 404), path
    after = quiet_panel.client.get("/api/v1/admin/runs").json, quiet_panel.client.get("/api/v1/admin/activations").json
    assert before == after


def test_a_wrong_name_and_a_wrong_password_look_the_same(quiet_panel: Panel) -> None:
    client = quiet_panel.app.test_client()
    no_account = log_in(client, name="nobody")
    no_password = log_in(client, password="something else entirely")
    assert no_account.status_code == no_password.status_code == 403
    strip = re.compile(r'name="csrf_token" value="[^"]+"')
    assert strip.sub("", no_account.text) == strip.sub("", no_password.text)


def test_guessing_passwords_is_slowed_down(quiet_panel: Panel) -> None:
    client = quiet_panel.app.test_client()
    client.environ_base["REMOTE_ADDR"] = "127.9.9.9"
    form = {"name": NAME, "csrf_token": token_of(client, "/admin/login")}
    codes = [client.post("/admin/login", data={**form, "password": f"guess {i}"}).status_code for i in range(12)]
    assert codes[:8] == [403] * 8
    assert codes[8:] == [429] * 4
    assert client.post("/admin/login", data={**form, "password": PASSWORD}).status_code == 429
    other = quiet_panel.app.test_client()
    other.environ_base["REMOTE_ADDR"] = "127.9.9.8"
    assert log_in(other).status_code == 302
    body = {"name": NAME, "password": "guess"}
    codes = [other.post("/api/v1/admin/session", json=body).status_code for _ in range(9)]
    assert codes == [403] * 8 + [429]


def test_all_processes_of_a_server_count_the_same_tries(panel: Panel, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another process is another application on the same database."""
    monkeypatch.setattr(login, "LIMITS", ((timedelta(hours=1), 5),))
    applications = [panel.app, create_app(panel.settings)]

    def guess(number: int) -> int:
        client = applications[number % 2].test_client()
        client.environ_base["REMOTE_ADDR"] = "127.9.9.7"
        return client.post("/api/v1/admin/session", json={"name": NAME, "password": f"guess {number}"}).status_code

    codes = [guess(number) for number in range(7)]
    applications[1].extensions["shoal.database"].close()
    assert codes == [403] * 5 + [429] * 2
    with panel.database.reading() as session:
        kept = session.scalars(select(Attempt.address)).all()
    assert kept
    assert not any("127.9" in address for address in kept)


def test_a_log_in_brings_a_fresh_session_and_a_log_out_ends_it(quiet_panel: Panel) -> None:
    client = quiet_panel.app.test_client()
    old_token = token_of(client, "/admin/login")
    with client.session_transaction() as session:
        session["planted"] = "by somebody else"
    assert log_in(client).status_code == 302
    with client.session_transaction() as session:
        assert "planted" not in session
        visit = session["visit"]
    assert token_of(client, "/admin/password") != old_token
    stolen = quiet_panel.app.test_client()
    stolen.set_cookie("session", client.get_cookie("session").value)  # type: ignore[union-attr]
    assert stolen.get("/admin/runs").status_code == 200
    assert client.post("/admin/logout", data={"csrf_token": token_of(client, "/admin/password")}).status_code == 302
    assert find_visitor(quiet_panel.database, visit) is None
    assert refused(stolen, "/admin/runs", "GET")


def test_the_cookie_is_for_the_server_alone(quiet_panel: Panel) -> None:
    client = quiet_panel.app.test_client()
    cookie = log_in(client).headers["Set-Cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=Lax" in cookie
    assert "Secure" not in cookie
    quiet_panel.app.config["SESSION_COOKIE_SECURE"] = True  # what --tls sets
    try:
        assert "Secure" in log_in(quiet_panel.app.test_client()).headers["Set-Cookie"]
    finally:
        quiet_panel.app.config["SESSION_COOKIE_SECURE"] = False


@pytest.mark.parametrize(
    "elsewhere", ["//evil.example/admin/", "https://evil.example", "/\\evil.example", "/", "/administrator"]
)
def test_a_log_in_leads_to_no_other_site(quiet_panel: Panel, elsewhere: str) -> None:
    client = quiet_panel.app.test_client()
    form = {"name": NAME, "password": PASSWORD, "csrf_token": token_of(client, "/admin/login")}
    assert client.post("/admin/login", query_string={"next": elsewhere}, data=form).location == "/admin/"


def test_a_log_in_leads_back_to_the_page_that_was_asked_for(quiet_panel: Panel) -> None:
    client = quiet_panel.app.test_client()
    login = client.get("/admin/runs?sort=ap10").location
    form = {"name": NAME, "password": PASSWORD, "csrf_token": token_of(client, login)}
    assert client.post(login, data=form).location == "/admin/runs?sort=ap10"


def test_a_one_time_password_opens_nothing_but_its_change(quiet_panel: Panel) -> None:
    password = create_account(quiet_panel.database, "newcomer")
    client = quiet_panel.app.test_client()
    assert log_in(client, "newcomer", password).location == "/admin/password"
    assert client.get("/admin/runs").location == "/admin/password"
    assert client.get("/api/v1/admin/runs").status_code == 403
    new = "a password of my own"

    def change(old: str, new: str, again: str) -> int:
        form = {"old": old, "new": new, "again": again, "csrf_token": token_of(client, "/admin/password")}
        return client.post("/admin/password", data=form).status_code

    assert change("not it", new, new) == 400
    assert change(password, new, new + "!") == 400
    assert change(password, "short", "short") == 400
    assert change(password, password, password) == 400
    assert change(password, new, new) == 302
    assert client.get("/admin/runs").location.startswith("/admin/login")
    assert log_in(client, "newcomer", password).status_code == 403
    assert log_in(client, "newcomer", new).location == "/admin/"
    assert client.get("/admin/runs").status_code == 200


def test_an_operator_can_do_all_of_it_by_the_api(quiet_panel: Panel) -> None:
    create_account(quiet_panel.database, "program", "a program's password")
    client = quiet_panel.app.test_client()
    entered = client.post("/api/v1/admin/session", json={"name": "program", "password": "a program's password"})
    header = {"X-CSRFToken": entered.json["csrf_token"]}
    new = {"old": "a program's password", "new": "another of its passwords"}
    assert client.put("/api/v1/admin/password", json=new).status_code == 400
    assert client.put("/api/v1/admin/password", json=new, headers=header).status_code == 204
    assert client.get("/api/v1/admin/session").status_code == 401
    again = client.post("/api/v1/admin/session", json={"name": "program", "password": new["new"]})
    header = {"X-CSRFToken": again.json["csrf_token"]}
    assert client.get("/api/v1/admin/session").json["name"] == "program"
    assert client.delete("/api/v1/admin/session", headers=header).status_code == 204
    assert client.get("/api/v1/admin/session").status_code == 401


def test_a_guess_takes_the_time_and_the_memory_that_are_advised(usual_hashing: str) -> None:
    name, cost, block, _ = usual_hashing.split(":")
    assert (name, int(cost) * int(block) * 128) == ("scrypt", 32 * 2**20)


def test_the_first_account_is_made_once_and_with_a_password_of_its_own(database: Database) -> None:
    first = create_first_account(database)
    assert first is not None
    assert len(first) >= 12
    assert create_first_account(database) is None
    account = check_password(database, "admin", first)
    assert account is not None
    assert account.must_change
    assert first not in account.password
    assert account.password.startswith("scrypt:")
    change_password(database, account, first, "something longer")
    assert check_password(database, "admin", first) is None


@pytest.mark.parametrize("name", ["", "two words", "x" * 65, "<script>", "ümlaut"])
def test_a_name_that_is_none_is_refused(database: Database, name: str) -> None:
    with pytest.raises(InputError, match="no account name"):
        create_account(database, name, "a good password")


def test_a_second_account_of_one_name_and_a_short_password_are_refused(database: Database) -> None:
    create_account(database, "olga", "a good password")
    with pytest.raises(InputError, match="already"):
        create_account(database, "olga", "another password")
    with pytest.raises(InputError, match="12 to 200"):
        create_account(database, "igor", "short")


def test_accounts_are_made_at_the_command_line(
    tmp_path: object, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    import io
    from pathlib import Path

    from shoal.cli import main

    instance = str(tmp_path)
    assert main(["admin", "create", "vera", "--one-time", "--instance", instance]) == 0
    said = capsys.readouterr().out
    database = Database(Settings(instance=Path(instance)).database)
    assert check_password(database, "vera", said.split()[-1]) is not None
    monkeypatch.setattr("sys.stdin", io.StringIO("typed by somebody\n"))
    assert main(["admin", "create", "ivan", "--instance", instance]) == 0
    account = check_password(database, "ivan", "typed by somebody")
    assert account is not None
    assert not account.must_change
    assert "typed" not in capsys.readouterr().out
    monkeypatch.setattr("sys.stdin", io.StringIO("\n"))
    assert main(["admin", "create", "anna", "--instance", instance]) == 2
    database.close()
