"""Can an operator choose, preview, run, compare, activate and roll back? Asked by forms and by the API."""

import gzip
import io
import json
import re

import pytest

from shoal.anonymizer.base import Release as Published
from shoal.anonymizer.registry import methods
from shoal.webapp.core.gate import Policy, set_policy
from shoal.webapp.core.seal import release_folder
from shoal.webapp.database import Release
from shoal.webapp.operator.compare import MOST_COMPARED
from shoal.webapp.operator.releases import PUBLIC
from tests.webapp.instances import Panel


@pytest.fixture(scope="session")
def two_runs(panel: Panel) -> tuple[int, int]:
    return panel.run("random", k="4"), panel.run("original")


def test_the_cards_say_of_every_method_what_the_registry_says(quiet_panel: Panel) -> None:
    from markupsafe import escape

    page = quiet_panel.client.get("/admin/methods").text
    for method in methods().values():
        for words in (method.info.title, method.info.paper, method.info.protects, method.info.does_not_protect):
            assert str(escape(words)) in page


@pytest.mark.parametrize("id", methods())
def test_the_form_of_every_method_is_made_from_its_parameters(quiet_panel: Panel, id: str) -> None:
    page = quiet_panel.client.get(f"/admin/methods/{id}").text
    for parameter in methods()[id].info.parameters:
        assert f'name="{parameter.name}"' in page
        assert parameter.help.split("'")[0] in page
        if parameter.more_private != "neither":
            assert f"{parameter.more_private} is more private" in page


def test_a_bad_value_stays_in_the_form_with_the_reason(quiet_panel: Panel) -> None:
    answer = quiet_panel.post("/admin/methods/random", what="preview", log="1", k="1")
    assert answer.status_code == 400
    assert "k=1 is not allowed" in answer.text
    assert 'value="1"' in answer.text
    assert quiet_panel.post("/admin/methods/random", what="run", log="x").status_code == 400
    assert quiet_panel.post("/admin/methods/nothing", what="run", log="1").status_code == 404
    assert quiet_panel.client.get("/admin/methods/nothing").status_code == 404


def test_a_preview_shows_precision_risk_and_sizes_and_publishes_nothing(panel: Panel) -> None:
    before = len(panel.client.get("/api/v1/releases").json["releases"])
    number = panel.run("random", what="preview", k="6")
    page = panel.client.get(f"/admin/runs/{number}").text
    for words in ("AP@10", "Found", "Smallest group", "Group sizes", "Run it on all users"):
        assert words in page
    assert len(panel.client.get("/api/v1/releases").json["releases"]) == before
    whole = panel.post(f"/admin/runs/{number}/whole")
    made = int(whole.location.rsplit("/", 1)[1])
    assert panel.wait(made) == "done"
    assert len(panel.client.get("/api/v1/releases").json["releases"]) == before + 1


def test_a_finished_run_has_a_certificate_and_its_public_files(panel: Panel, two_runs: tuple[int, int]) -> None:
    number, _ = two_runs
    run = panel.client.get(f"/api/v1/admin/runs/{number}").json
    assert run["state"] == "done"
    assert run["certificate"]["parameters"] == {"k": 4}
    assert run["certificate"]["holds"] is True
    assert len(run["certificate"]["data_sha256"]) == 64
    assert run["files"] == ["profiles.jsonl", "catalogue.tsv", "manifest.json", "certificate.json", "measures.json"]
    for name in run["files"]:
        answer = panel.client.get(f"/admin/releases/{run['release_id']}/files/{name}", buffered=True)
        assert answer.status_code == 200
        assert "attachment" in answer.headers["Content-Disposition"]
    saved = panel.client.get(f"/api/v1/admin/releases/{run['release_id']}/files/certificate.json", buffered=True)
    assert json.loads(saved.data) == run["certificate"]


@pytest.mark.parametrize(
    "name", ["assignment.tsv", "..%2Fassignment.tsv", "%2e%2e/assignment.tsv", "ASSIGNMENT.TSV", "."]
)
def test_the_assignment_never_leaves(panel: Panel, two_runs: tuple[int, int], name: str) -> None:
    release_id = f"r{two_runs[0]}"
    assert (release_folder(panel.settings.instance, release_id) / "assignment.tsv").is_file()
    assert "assignment.tsv" not in PUBLIC
    for start in ("/admin", "/api/v1/admin"):
        answer = panel.client.get(f"{start}/releases/{release_id}/files/{name}", follow_redirects=True, buffered=True)
        assert answer.status_code in (400, 404)
        assert b"\tp0" not in answer.data


def test_runs_are_sorted_and_filtered(panel: Panel, two_runs: tuple[int, int]) -> None:
    found = panel.client.get("/api/v1/admin/runs?sort=ap10&down=1&kind=run&state=done").json["runs"]
    values = [run["result"]["measured"]["ap10"] for run in found]
    assert values == sorted(values, reverse=True)
    assert values[0] == 1  # the own profile
    only = panel.client.get("/admin/runs?method=random&sort=linkage5").text
    assert "Random groups of k users (k = 4)" in only
    assert f'href="/admin/runs/{two_runs[1]}"' not in only
    assert panel.client.get("/admin/runs?sort=nonsense").status_code == 400
    assert panel.client.get("/api/v1/admin/runs?sort=nonsense").status_code == 422


def test_runs_stand_side_by_side_with_their_differences(panel: Panel, two_runs: tuple[int, int]) -> None:
    first, second = two_runs
    page = panel.client.get(f"/admin/compare?run={first}&run={second}&run={first}").text
    assert "2 runs side by side" in page
    assert 'class="differs"' in page
    assert "★" in page
    assert panel.client.get(f"/admin/compare?run={first}").status_code == 302
    assert panel.client.get("/admin/compare?run=1;drop").status_code == 400
    assert panel.client.get("/admin/compare?run=999999").status_code == 404


def test_the_plot_shows_every_release_and_links_to_its_run(panel: Panel, two_runs: tuple[int, int]) -> None:
    page = panel.client.get("/admin/").text
    for number in two_runs:
        assert f'href="/admin/runs/{number}"' in page
        assert f"r{number}: " in page
    assert "xlink:href" not in page
    assert ' style="' not in page
    assert "<script>" not in page


def test_activating_switches_everyone_and_rolling_back_undoes_it(panel: Panel, two_runs: tuple[int, int]) -> None:
    def current() -> str:
        return str(panel.client.get("/api/v1/releases").json["current"])

    set_policy(panel.database, Policy(ceiling=1), "olga")  # so that going back does not withdraw it
    before, wanted = current(), f"r{two_runs[0]}"
    assert panel.post(f"/admin/releases/{wanted}/activate", note="a test").status_code == 302
    assert current() == wanted
    assert panel.client.get("/api/v1/search?q=climate").json["release_id"] == wanted
    history = panel.client.get("/api/v1/admin/activations").json["activations"]
    assert (history[0]["release_id"], history[0]["account"], history[0]["note"]) == (wanted, "olga", "a test")
    assert panel.post("/admin/rollback").status_code == 302
    assert current() == before
    page = panel.client.get("/admin/history").text
    assert f"rolled back from {wanted}" in page
    assert "first start" in page
    set_policy(panel.database, Policy(), "olga")


def test_a_release_that_promises_nothing_asks_for_a_confirmation_and_says_why(
    panel: Panel, two_runs: tuple[int, int]
) -> None:
    before, wanted = panel.client.get("/api/v1/releases").json["current"], f"r{two_runs[1]}"
    asked = panel.post(f"/admin/releases/{wanted}/activate")
    assert asked.location == f"/admin/releases/{wanted}"
    page = panel.client.get(asked.location).text
    assert "promises nothing" in page
    assert "finds the profile and reads the rest" in page
    assert panel.client.get("/api/v1/releases").json["current"] == before
    token = panel.client.get("/api/v1/admin/session").json["csrf_token"]
    refused = panel.client.post(
        "/api/v1/admin/activations", json={"release_id": wanted}, headers={"X-CSRFToken": token}
    )
    assert refused.status_code == 409
    assert "promises nothing" in refused.json["error"]["message"]
    assert panel.post(f"/admin/releases/{wanted}/activate", confirmed="yes").status_code == 302
    assert panel.client.get("/api/v1/releases").json["current"] == wanted
    assert panel.post(f"/admin/releases/{before}/activate").status_code == 302
    assert panel.client.get("/api/v1/releases").json["current"] == before


def test_a_release_that_breaks_its_promise_cannot_be_activated(panel: Panel, two_runs: tuple[int, int]) -> None:
    with panel.database.writing() as session:
        session.get_one(Release, f"r{two_runs[0]}").holds = False
    try:
        answer = panel.post(f"/admin/releases/r{two_runs[0]}/activate", confirmed="yes")
        assert answer.status_code == 403
        assert "does not keep its promise" in answer.text
    finally:
        with panel.database.writing() as session:
            session.get_one(Release, f"r{two_runs[0]}").holds = True


@pytest.mark.parametrize("name", ["canary-7731905", "o'brien", 'say "so"', "both ' and \"", "back\\slash'"])
def test_a_counterexample_names_nobody_to_searchers(panel: Panel, two_runs: tuple[int, int], name: str) -> None:
    release_id = f"r{two_runs[0]}"
    releases = panel.app.extensions["shoal.releases"]
    with panel.database.writing() as session:
        row = session.get_one(Release, release_id)
        row.holds, row.counterexample = False, f"user {name!r} is in 2 groups"
    releases._loaded.cache_clear()
    try:
        assert releases.get(release_id).verdict.counterexample == "user … is in 2 groups"
    finally:
        with panel.database.writing() as session:
            row = session.get_one(Release, release_id)
            row.holds, row.counterexample = True, ""
        releases._loaded.cache_clear()


def test_a_release_that_is_not_there_cannot_be_activated(panel: Panel) -> None:
    assert panel.post("/admin/releases/r99999/activate").status_code == 404
    assert panel.client.get("/admin/releases/r99999").status_code == 404


GOOD = b"u1\tred wine\t2006-03-01 10:00:00\t\t\nu2\tgreen tea\t2006-03-02 10:00:00\t1\thttp://tea\n"
BAD = b"u3\tno time\n<script>alert(1)</script>\tquery\tyesterday\t\t\n"


def upload(panel: Panel, content: bytes, name: str) -> int:
    answer = panel.post("/admin/data", log=(io.BytesIO(content), name))
    assert answer.status_code == 302, answer.text
    return int(answer.location.rsplit("/", 1)[1])


def test_an_uploaded_log_is_read_and_its_bad_rows_are_shown(panel: Panel) -> None:
    number = upload(panel, GOOD + BAD, "../../somebody's log.tsv")
    assert panel.wait(number) == "done"
    page = panel.client.get(f"/admin/data/jobs/{number}").text
    assert "2 rows could not be read" in page
    log = next(one for one in panel.client.get("/api/v1/admin/logs").json["logs"] if one["rejected"] == 2)
    assert (log["statistics"]["users"], log["statistics"]["clicks"], log["served"]) == (2, 1, False)
    rejected = panel.client.get(f"/admin/data/logs/{log['id']}/rejected").text
    assert "wrong number of columns" in rejected
    assert "&lt;script&gt;" in rejected
    assert "<script>alert" not in rejected
    files = [path for path in (panel.settings.instance / "uploads").rglob("*") if path.is_file()]
    assert files
    assert all(path.stat().st_mode & 0o077 == 0 for path in files)


def test_a_packed_log_can_be_uploaded_and_anonymized_but_not_activated(panel: Panel) -> None:
    number = upload(panel, gzip.compress(GOOD.replace(b"tea", b"coffee")), "packed.gz")
    assert panel.wait(number) == "done"
    log_id = panel.client.get(f"/api/v1/admin/uploads/{number}").json["result"]["log"]
    answer = panel.post("/admin/methods/everyone", what="run", log=str(log_id))
    made = int(answer.location.rsplit("/", 1)[1])
    assert panel.wait(made) == "done"
    refused = panel.post(f"/admin/releases/r{made}/activate")
    assert refused.status_code == 409
    assert "another log" in refused.text
    assert f"r{made}" not in {one["release_id"] for one in panel.client.get("/api/v1/releases").json["releases"]}


@pytest.mark.parametrize("content", [b"", b"\x00\x01\x02binary", b"not a log at all\n"])
def test_what_is_no_log_is_a_failed_upload_with_its_reason(panel: Panel, content: bytes) -> None:
    number = upload(panel, content, "wrong.tsv")
    assert panel.wait(number) == "failed"
    job = panel.client.get(f"/api/v1/admin/uploads/{number}").json
    assert "wrong.tsv" in job["error"]
    assert panel.client.get(f"/admin/data/jobs/{number}").status_code == 200


def test_an_upload_above_the_limit_is_refused(panel: Panel) -> None:
    limit = panel.app.config["MAX_CONTENT_LENGTH"]
    panel.app.config["MAX_CONTENT_LENGTH"] = 20_000
    try:
        form = {"log": (io.BytesIO(GOOD * 1000), "large.tsv")}
        assert panel.post("/admin/data", **form).status_code == 413
    finally:
        panel.app.config["MAX_CONTENT_LENGTH"] = limit


def test_an_upload_without_a_file_is_refused(panel: Panel) -> None:
    assert panel.post("/admin/data").status_code == 400


def test_a_cancelled_run_says_so_and_can_be_started_again(panel: Panel) -> None:
    token = {"X-CSRFToken": panel.client.get("/api/v1/admin/session").json["csrf_token"]}
    made = panel.client.post("/api/v1/admin/runs", json={"method": "random", "params": {"k": 3}}, headers=token)
    assert made.status_code == 201
    number = made.json["id"]
    panel.client.post(f"/api/v1/admin/runs/{number}/cancel", headers=token)
    state = panel.wait(number)
    assert state in ("cancelled", "done")  # it may have been quicker
    if state == "cancelled":
        assert "was cancelled" in panel.client.get(f"/admin/runs/{number}").text
        assert panel.client.post(f"/api/v1/admin/runs/{number}/again", headers=token).status_code == 200
        assert panel.wait(number) == "done"


def test_loaded_releases_are_what_was_published(panel: Panel, two_runs: tuple[int, int]) -> None:
    loaded = panel.app.extensions["shoal.releases"].get(f"r{two_runs[0]}")
    assert isinstance(loaded.stored.release, Published)
    assert loaded.params == {"k": 4}
    assert loaded.verdict.holds
    assert loaded.measured["anonymity_min"] >= 4
    assert loaded.title == "Random groups of k users (k = 4)"


def test_an_error_in_the_panel_leads_back_to_the_panel(quiet_panel: Panel) -> None:
    for address in ("/admin/runs/999999", "/admin/runs?sort=nonsense", "/admin/nothing"):
        page = quiet_panel.client.get(address).text
        assert 'href="/admin/">Back to the overview' in page, address
    assert 'href="/">Back to the search page' in quiet_panel.client.get("/nothing").text


def test_too_many_runs_to_compare_keep_their_selection(quiet_panel: Panel) -> None:
    numbers = range(1, MOST_COMPARED + 2)
    answer = quiet_panel.client.get("/admin/compare", query_string=[("run", number) for number in numbers])
    assert answer.status_code == 302
    page = quiet_panel.client.get(answer.location).text
    assert f"choose up to {MOST_COMPARED}" in page
    assert re.search(r'name="run" value="1"[^>]* checked', page)


def test_a_rejected_row_is_shown_whole(panel: Panel) -> None:
    number = upload(panel, b"u1\tplum wine\t2006-03-01 10:00:00\t\t\nu3\tred\twine\tone\ttwo\tthree\n", "tabs.tsv")
    assert panel.wait(number) == "done"
    log_id = panel.client.get(f"/api/v1/admin/uploads/{number}").json["result"]["log"]
    rows = panel.client.get(f"/api/v1/admin/logs/{log_id}/rejected").json["rows"]
    assert [row["line"] for row in rows] == ["u3\tred\twine\tone\ttwo\tthree"]
    assert rows[0]["line_number"] == 2


def test_no_heading_is_empty_and_no_landmark_stands_twice(quiet_panel: Panel) -> None:
    for address in ("/admin/history", "/admin/data", "/admin/runs", "/admin/releases"):
        page = quiet_panel.client.get(address).text
        assert "<th></th>" not in page, address
        names = re.findall(r'<(?:section|div|nav)[^>]*aria-label="([^"]+)"', page)
        named = re.findall(r'aria-labelledby="([^"]+)"', page)
        titles = [re.search(rf'id="{one}"[^>]*>([^<]+)<', page)[1].strip() for one in named]  # type: ignore[index]
        assert len({*names, *titles}) == len(names) + len(titles), address
