"""What may each role do, who may log in, and can anybody be locked out by somebody else?"""

import stat
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest
from flask import Flask, request
from flask.testing import FlaskClient

from shoal.cli import main
from shoal.corpus.errors import Conflict, InputError, NotFound
from shoal.webapp.core import accounts, login
from shoal.webapp.core.accounts import (
    change_account,
    check_password,
    create_account,
    create_first_account,
    delete_account,
    find_visitor,
    list_accounts,
    reset_password,
    start_visit,
    write_one_time,
)
from shoal.webapp.core.audit import list_events
from shoal.webapp.core.headers import TrustedProxies
from shoal.webapp.core.roles import ADMINISTRATOR, OPEN, OPERATOR, OWN, ROLES, VIEWER, is_at_least, least_role
from shoal.webapp.core.settings import Settings
from shoal.webapp.database import Database
from tests.webapp.core.test_login import address
from tests.webapp.instances import Panel, log_in, token_of

LONG = "a password of many letters"


@pytest.fixture(scope="module")
def staff(quiet_panel: Panel) -> dict[str, FlaskClient]:
    """Somebody of each role who is logged in."""
    found = {}
    for role in ROLES:
        create_account(quiet_panel.database, f"staff-{role}", LONG, role)
        found[role] = quiet_panel.app.test_client()
        assert log_in(found[role], f"staff-{role}", LONG).status_code == 302
    return found


def routes(panel: Panel) -> Iterator[tuple[str, str, str]]:
    for rule in panel.app.url_map.iter_rules():
        if rule.endpoint.startswith(("operator.", "api_operator.")) and rule.endpoint not in OPEN | OWN:
            for method in sorted((rule.methods or set()) - {"OPTIONS", "HEAD"}):
                yield rule.endpoint, address(rule), method


def test_every_route_is_refused_to_whoever_has_less_than_the_role_of_the_table(
    quiet_panel: Panel, staff: dict[str, FlaskClient]
) -> None:
    tried = 0
    for endpoint, path, method in routes(quiet_panel):
        least = least_role(endpoint, reading=method == "GET")
        for role, client in staff.items():
            if not is_at_least(role, least):
                header = {"X-CSRFToken": client.get("/api/v1/admin/session").json["csrf_token"]}
                answer = client.open(path, method=method, headers=header)
                assert answer.status_code == 403, (role, path, method)
                assert least in answer.text
                tried += 1
    assert tried > 30


def test_every_role_reads_what_the_table_gives_it(quiet_panel: Panel, staff: dict[str, FlaskClient]) -> None:
    for endpoint, path, method in routes(quiet_panel):
        for role, client in staff.items():
            if method == "GET" and is_at_least(role, least_role(endpoint, reading=True)):
                assert client.get(path, buffered=True).status_code in (200, 302, 404), (role, path)


def test_a_viewer_changes_the_own_password_and_logs_out(quiet_panel: Panel) -> None:
    create_account(quiet_panel.database, "viewer-2", LONG, VIEWER)
    client = quiet_panel.app.test_client()
    log_in(client, "viewer-2", LONG)
    form = {"old": LONG, "new": LONG + "!", "again": LONG + "!", "csrf_token": token_of(client, "/admin/password")}
    assert client.post("/admin/password", data=form).status_code == 302
    assert log_in(client, "viewer-2", LONG + "!").status_code == 302
    assert client.post("/admin/logout", data={"csrf_token": token_of(client, "/admin/password")}).status_code == 302


def test_a_one_time_password_is_refused_after_a_day(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    password = create_account(database, "late")
    assert check_password(database, "late", password) is not None
    monkeypatch.setattr(accounts, "now", lambda before=accounts.now: before() + timedelta(hours=25))
    assert check_password(database, "late", password) is None
    create_account(database, "steady", LONG)
    monkeypatch.setattr(accounts, "now", lambda before=accounts.now: before() + timedelta(days=400))
    assert check_password(database, "steady", LONG) is not None


def test_a_one_time_password_stands_in_a_file_of_the_owners_until_it_is_changed(quiet_panel: Panel) -> None:
    password = create_account(quiet_panel.database, "filed")
    path = write_one_time(quiet_panel.settings.instance, "filed", "an older one")
    path.chmod(0o644)
    assert write_one_time(quiet_panel.settings.instance, "filed", password) == path
    assert (path.read_text().strip(), stat.S_IMODE(path.stat().st_mode)) == (password, 0o600)
    client = quiet_panel.app.test_client()
    log_in(client, "filed", password)
    form = {"old": password, "new": LONG, "again": LONG, "csrf_token": token_of(client, "/admin/password")}
    assert client.post("/admin/password", data=form).status_code == 302
    assert not path.exists()


def test_who_is_disabled_or_reset_is_out_at_once(database: Database) -> None:
    create_first_account(database)
    create_account(database, "olga", LONG)
    account = check_password(database, "olga", LONG)
    assert account is not None
    visit = start_visit(database, account)
    change_account(database, "olga", disabled=True, by="admin")
    assert find_visitor(database, visit) is None
    assert check_password(database, "olga", LONG) is None
    change_account(database, "olga", disabled=False)
    visit = start_visit(database, account)
    password = reset_password(database, "olga", "admin")
    assert find_visitor(database, visit) is None
    assert check_password(database, "olga", LONG) is None
    assert check_password(database, "olga", password) is not None
    noted = [(event.action, event.account) for event in list_events(database, subject="olga")]
    assert ("account.reset", "admin") in noted
    assert ("account.change", "admin") in noted


def test_there_is_always_an_administrator(database: Database) -> None:
    create_account(database, "first", LONG, ADMINISTRATOR)
    create_account(database, "second", LONG, OPERATOR)
    for change in ({"disabled": True}, {"role": OPERATOR}):
        with pytest.raises(Conflict, match="last account of an administrator"):
            change_account(database, "first", **change)  # type: ignore[arg-type]
    with pytest.raises(Conflict, match="last account of an administrator"):
        delete_account(database, "first")
    change_account(database, "second", role=ADMINISTRATOR)
    delete_account(database, "first", "second")
    assert [account.name for account in list_accounts(database)] == ["second"]
    with pytest.raises(NotFound):
        delete_account(database, "first")
    with pytest.raises(InputError, match="no role"):
        create_account(database, "third", LONG, "king")


def guess(app: Flask, name: str, number: int, password: str = "guessed") -> int:
    client = app.test_client()
    client.environ_base["REMOTE_ADDR"] = f"192.0.2.{number}"
    return client.post("/api/v1/admin/session", json={"name": name, "password": password}).status_code


def test_guesses_from_elsewhere_slow_down_strangers_and_lock_nobody_out(
    quiet_panel: Panel, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(login, "OF_ACCOUNT", ((timedelta(hours=1), 3),))
    panel = quiet_panel
    create_account(panel.database, "wanted", LONG)
    assert guess(panel.app, "wanted", 250, LONG) == 200
    assert [guess(panel.app, "wanted", number) for number in range(5)] == [403] * 3 + [429] * 2
    assert guess(panel.app, "wanted", 99, LONG) == 429  # a stranger, even with the password
    assert guess(panel.app, "wanted", 250, LONG) == 200  # who logged in before from there
    here = panel.app.test_client()  # the machine itself
    assert here.post("/api/v1/admin/session", json={"name": "wanted", "password": LONG}).status_code == 200
    assert guess(panel.app, "other", 99) == 403  # of another account nothing is known
    reset_password(panel.database, "wanted")
    assert guess(panel.app, "wanted", 99) == 403


def seen(forwarded: str, peer: str, *proxies: str) -> str:
    """The address that an application behind the proxies takes for who asks."""
    app = Flask("behind")
    app.add_url_rule("/", view_func=lambda: request.remote_addr or "")
    trusted = Settings(proxies=proxies).trusted
    app.wsgi_app = TrustedProxies(app.wsgi_app, trusted)  # type: ignore[method-assign]
    headers = {"X-Forwarded-For": forwarded} if forwarded else {}
    return app.test_client().get("/", headers=headers, environ_base={"REMOTE_ADDR": peer}).text


def test_only_declared_proxies_say_who_asks() -> None:
    assert seen("198.51.100.7", "127.0.0.1", "127.0.0.1") == "198.51.100.7"
    assert seen("198.51.100.7", "203.0.113.9", "127.0.0.1") == "203.0.113.9"
    assert seen("198.51.100.7", "127.0.0.1") == "127.0.0.1"
    assert seen("", "127.0.0.1", "127.0.0.1") == "127.0.0.1"
    assert seen("1.2.3.4, 198.51.100.7, 10.0.0.8", "10.0.0.9", "10.0.0.0/8") == "198.51.100.7"
    assert seen("1.2.3.4, nonsense", "10.0.0.9", "10.0.0.0/8") == "nonsense"


def test_a_proxy_that_is_no_address_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="--proxies"):
        Settings(instance=tmp_path, proxies=("proxy.example",)).check()


def test_accounts_are_looked_after_at_the_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def admin(*words: str) -> int:
        return main(["admin", *words, "--instance", str(tmp_path)])

    assert admin("create", "ada", "--one-time", "--role", ADMINISTRATOR) == 0
    assert admin("create", "vera", "--one-time", "--role", VIEWER) == 0
    said = capsys.readouterr().out
    kept = tmp_path / "one-time-password-vera.txt"
    assert kept.read_text().strip() == said.split()[-1]
    assert str(kept) in said
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600
    assert [admin("disable", "vera"), admin("enable", "vera"), admin("role", "vera", OPERATOR)] == [0, 0, 0]
    assert [admin("reset", "vera"), admin("disable", "ada"), admin("reset", "nobody")] == [0, 2, 2]
    capsys.readouterr()
    assert admin("list", "--json") == 0
    assert '"role": "operator"' in capsys.readouterr().out
    assert admin("delete", "vera") == 0
    assert not kept.exists()
