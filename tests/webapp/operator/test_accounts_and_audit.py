"""Does an administrator look after accounts in the panel, and is every act written down and exported?"""

import csv
import io

from shoal.webapp.core.accounts import check_password, find_account
from shoal.webapp.core.audit import record
from tests.webapp.instances import NAME, Panel, log_in


def test_an_administrator_makes_changes_and_deletes_an_account(quiet_panel: Panel) -> None:
    page = quiet_panel.post("/admin/accounts", name="newhand", role="viewer")
    kept = quiet_panel.settings.instance / "one-time-password-newhand.txt"
    password = kept.read_text().strip()
    assert password in page.text
    assert password not in quiet_panel.client.get("/admin/accounts").text
    assert quiet_panel.post("/admin/accounts/newhand", what="role", role="operator").status_code == 302
    found = find_account(quiet_panel.database, "newhand")
    assert found is not None
    assert found.role == "operator"
    assert quiet_panel.post("/admin/accounts/newhand", what="disable").status_code == 302
    assert check_password(quiet_panel.database, "newhand", password) is None
    assert quiet_panel.post("/admin/accounts/newhand", what="reset").status_code == 200
    assert kept.read_text().strip() != password
    assert quiet_panel.post("/admin/accounts/newhand", what="nonsense").status_code == 400
    assert quiet_panel.post("/admin/accounts/newhand/delete", typed="something else").status_code == 400
    assert quiet_panel.post("/admin/accounts/newhand/delete", typed="newhand").status_code == 302
    assert find_account(quiet_panel.database, "newhand") is None
    assert not kept.exists()


def test_nobody_locks_the_own_account_out(quiet_panel: Panel) -> None:
    for what in ("disable", "reset", "role"):
        assert quiet_panel.post(f"/admin/accounts/{NAME}", what=what, role="viewer").status_code == 400
    assert quiet_panel.post(f"/admin/accounts/{NAME}/delete", typed=NAME).status_code == 400
    assert quiet_panel.client.get("/admin/accounts").status_code == 200


def test_programs_do_the_same(quiet_panel: Panel) -> None:
    client = quiet_panel.client
    header = {"X-CSRFToken": client.get("/api/v1/admin/session").json["csrf_token"]}
    made = client.post("/api/v1/admin/accounts", json={"name": "robot", "role": "viewer"}, headers=header)
    assert made.status_code == 201
    assert check_password(quiet_panel.database, "robot", made.json["one_time_password"]) is not None
    changed = client.post("/api/v1/admin/accounts/robot", json={"what": "disable"}, headers=header)
    assert changed.json == {"one_time_password": ""}
    listed = {one["name"]: one for one in client.get("/api/v1/admin/accounts").json["accounts"]}
    assert (listed["robot"]["disabled"], listed["robot"]["role"]) == (True, "viewer")
    assert client.delete("/api/v1/admin/accounts/robot", headers=header).status_code == 204
    told = client.get("/api/v1/admin/audit?action=account.&subject=robot").json["events"]
    assert [event["action"] for event in told] == ["account.delete", "account.change", "account.create"]


def test_log_ins_and_downloads_are_in_the_audit_and_mistyped_names_are_not(quiet_panel: Panel) -> None:
    stranger = quiet_panel.app.test_client()
    log_in(stranger, name="my secret password")
    log_in(stranger, password="not the password")
    log_in(stranger)
    text = quiet_panel.client.get("/admin/audit?action=login").text
    assert "login.failed" in text
    assert NAME in text
    assert "my secret password" not in text
    active = quiet_panel.client.get("/api/v1/releases/current").json["release_id"]
    path = f"/admin/releases/{active}/files/manifest.json"
    assert quiet_panel.client.get(path, buffered=True).status_code == 200
    assert f"{active}/manifest.json" in quiet_panel.client.get("/admin/audit?action=download").text


def test_no_cell_of_the_export_is_a_formula(quiet_panel: Panel) -> None:
    for subject in ("=cmd()", "+1", "-1", "@sum"):
        record(quiet_panel.database, "test.formula", NAME, subject)
    answer = quiet_panel.client.get("/admin/audit.csv?action=test.")
    assert answer.content_type.startswith("text/csv")
    cells = [cell for row in csv.reader(io.StringIO(answer.text)) for cell in row]
    assert "'=cmd()" in cells
    assert not [cell for cell in cells if cell.startswith(("=", "+", "-", "@"))]
