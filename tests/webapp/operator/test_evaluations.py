"""Does an evaluation that the operator starts grow, end, and stand at /answer for everybody once it is published?"""

import json
import re
from html import unescape

import pytest

from shoal.evaluation.run.results import read_results
from shoal.webapp.core.accounts import create_account
from shoal.webapp.core.audit import list_events
from shoal.webapp.core.roles import VIEWER
from shoal.webapp.core.withdrawal import evaluation_folder, finish_deletions
from shoal.webapp.database import Job
from shoal.webapp.database.models import EVALUATION, LEVELS, now
from shoal.webapp.jobs.evaluation import published_evaluation, results_so_far
from shoal.webapp.operator import REDACTED
from shoal.webapp.searcher.answer import AtRisk, at_risks, standing
from tests.webapp.instances import NAME, PASSWORD, Panel, log_in


@pytest.fixture(scope="module")
def before(quiet_panel: Panel) -> tuple[int, str]:
    """How /answer answers before anything is published."""
    answer = quiet_panel.app.test_client().get("/answer")
    return answer.status_code, answer.text


@pytest.fixture(scope="module")
def evaluated(quiet_panel: Panel, before: tuple[int, str]) -> int:
    form = {"method": ["random", "linkability"], "levels": "3", "thorough": "quick", "log": "1"}
    answer = quiet_panel.post("/admin/evaluations", **form)
    assert answer.status_code == 302, answer.text
    number = int(answer.location.rsplit("/", 1)[1])
    assert quiet_panel.client.get(answer.location).status_code == 200
    assert quiet_panel.wait(number) == "done"
    return number


def test_nothing_stands_at_the_answer_before_it_is_published(quiet_panel: Panel, before: tuple[int, str]) -> None:
    assert before[0] == 404
    assert "the operator starts an evaluation and publishes it" in before[1]


def test_until_there_is_an_answer_it_says_what_it_waits_for(
    quiet_panel: Panel, before: tuple[int, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("shoal.webapp.searcher.answer.published_evaluation", lambda *_: None)
    waiting = Job(kind=EVALUATION, state="running", task={"log": 1}, done=14, total=48)
    monkeypatch.setattr("shoal.webapp.searcher.answer.list_evaluations", lambda *_: [waiting])
    assert "14 of 48 settings are measured" in quiet_panel.app.test_client().get("/answer").text
    making = Job(kind=LEVELS, state="running", task={"log": 1}, done=5, total=30)
    monkeypatch.setattr("shoal.webapp.searcher.answer.levels_under_way", lambda *_: making)
    assert "5 of 30 releases are made" in quiet_panel.app.test_client().get("/answer").text


def test_it_measures_what_was_asked_for_beside_the_controls(quiet_panel: Panel, evaluated: int) -> None:
    results = results_so_far(quiet_panel.settings.instance, evaluated)
    assert results is not None
    measured = [row["method"] for row in results.rows]
    assert {name: measured.count(name) for name in set(measured)} == {
        "random": 3, "linkability": 3, "plain": 1, "everyone": 1, "original": 1, "device": 1,
    }  # fmt: skip
    page = quiet_panel.client.get(f"/admin/evaluations/{evaluated}").text
    assert "Publish it at /answer" in page
    assert '<svg role="group"' in page


def test_published_it_answers_everybody_in_words_numbers_and_files(quiet_panel: Panel, evaluated: int) -> None:
    assert quiet_panel.post(f"/admin/evaluations/{evaluated}/publish").status_code == 302
    everybody = quiet_panel.app.test_client()
    page = unescape(everybody.get("/answer").text)
    assert "made-up people are easier than real ones" in " ".join(page.split())
    for question in ("Which should I take?", "What do I lose?", "Who could find me?", "How was it measured?"):
        assert question in page
    results = read_results(evaluation_folder(quiet_panel.settings.instance, evaluated))
    risks = at_risks(results)
    assert any(one.says in page for one in risks)
    for one in risks:
        row = page.split(f'<th scope="row">{one.of_hundred}</th>')[1].split("</tr>")[0]
        assert one.is_free in row
        assert one.is_free or all(f"/answer/{method}" in row for method in one.leading)
    marks = set(re.findall(r'<a href="(/answer/[^"]+)" aria-label', page))
    assert {"/answer/random", "/answer/linkability", "/answer/original"} <= marks
    for address in marks:
        assert everybody.get(address).status_code == 200
    assert everybody.get("/answer/nothing").status_code == 404
    assert json.loads(everybody.get("/answer.json").text)["rows"] == results.rows
    assert everybody.get("/answer.csv").text.startswith("method,params,")
    assert "<svg" in everybody.get("/answer.svg").text[:200]


def test_who_may_not_enter_starts_nothing(quiet_panel: Panel) -> None:
    assert quiet_panel.app.test_client().get("/admin/evaluations").status_code == 302
    for form in ({}, {"method": "random", "levels": "4"}, {"method": "random", "thorough": "very", "levels": "3"}):
        answer = quiet_panel.post("/admin/evaluations", log="1", **form)
        assert answer.status_code == 400
        assert "choose" in answer.text


@pytest.mark.parametrize(("verdict", "leading", "said"), [
    ("best", ("linkability",), "keeps 27 % of what is personal; on your device: all"),
    ("tie", ("linkability", "ssc"), "keep 27 % of what is personal (which of them keeps more cannot be told)"),
    ("undecided", ("ssc",), "personal, and “Clusters with a common generalization”, not measured near that risk, may"),
    ("no method", ("everyone", "ssc"), "no method is better than everyone's average"),
    ("no better than random", ("random",), "no method is better than groups made at random"),
])  # fmt: skip
def test_the_sentence_says_who_is_best_or_that_nobody_is(verdict: str, leading: tuple[str, ...], said: str) -> None:
    perhaps = ("clump",) if verdict == "undecided" else ()
    says = AtRisk(0.05, verdict, leading, 0.27, ("linkability p=0.1",), perhaps).says
    assert says.startswith("If at most 5 in 100 people may be found, ")
    assert said in says


def test_a_method_is_told_where_it_leads_and_a_control_where_nothing_beats_it() -> None:
    tie = AtRisk(0.01, "tie", ("linkability", "ssc"), 0.16, ())
    none = AtRisk(0.05, "no method", ("everyone", "ssc"), 0.0, ())
    best = AtRisk(0.1, "best", ("ssc",), 0.46, ())
    told = {method: standing(method, [tie, none, best]) for method in ("ssc", "linkability", "everyone", "clump")}
    assert told["ssc"].startswith(
        "Among the best where at most 1 in 100 and 10 in 100 may be found: the best keep 16 %"
    )
    assert told["everyone"] == "No method is better where at most 5 in 100 may be found."
    assert "leads at none of the risks" in told["clump"]
    assert standing("ssc", [best]) == "The best where at most 10 in 100 may be found: the best keep 46 % there."


def test_programs_start_watch_and_publish_one_too(quiet_panel: Panel, evaluated: int) -> None:
    address = "/api/v1/admin/evaluations"
    found = quiet_panel.client.get(f"{address}/{evaluated}").json
    assert found["state"] == "done"
    assert {row["method"] for row in found["results"]["rows"]} >= {"random", "linkability", "original"}
    headers = {"X-CSRFToken": quiet_panel.client.get("/api/v1/admin/session").json["csrf_token"]}
    assert quiet_panel.client.post(f"{address}/{evaluated}/publish", headers=headers).json["published_at"]
    for wrong, code in (
        ({"methods": []}, 422),
        ({"methods": ["nothing"]}, 400),
        ({"methods": ["random"], "levels": 4}, 422),
    ):
        assert quiet_panel.client.post(address, json=wrong, headers=headers).status_code == code
    assert quiet_panel.client.get(f"{address}/1").status_code == 404  # a run


def test_results_of_another_version_are_as_good_as_none(quiet_panel: Panel, evaluated: int) -> None:
    quiet_panel.post(f"/admin/evaluations/{evaluated}/publish")
    path = evaluation_folder(quiet_panel.settings.instance, evaluated) / "results.json"
    content = path.read_text()
    path.write_text('{"rows": []}')
    answer = quiet_panel.app.test_client().get("/answer")
    assert answer.status_code == 404
    assert str(path.parent) not in answer.text
    assert quiet_panel.client.get(f"/admin/evaluations/{evaluated}").status_code == 200
    path.write_text(content)


def made_up(panel: Panel, state: str, **result: object) -> int:
    """An evaluation that was never measured, with a file where its results would be."""
    task = {"log": 1, "given": {"corpus": "news"}, "levels": 3, "thorough": "quick", "methods": ["random"]}
    with panel.database.writing() as session:
        told = {"error": "why", "finished_at": now(), "host": "elsewhere", "seen_at": now()}  # not given up meanwhile
        job = Job(kind=EVALUATION, state=state, task=task, result=result, **told)
        session.add(job)
        session.flush()
        number = job.id
    folder = evaluation_folder(panel.settings.instance, number)
    folder.mkdir(parents=True)
    (folder / "results.csv").write_text("what was measured")
    return number


def test_a_deleted_evaluation_is_gone_from_the_answer_with_its_files(panel: Panel) -> None:
    number = made_up(panel, "done", published_at="9999-01-01T00:00:00")
    assert published_evaluation(panel.database, 1, "news").id == number  # type: ignore[union-attr]
    assert "Delete it" in panel.client.get(f"/admin/evaluations/{number}").text
    assert panel.post(f"/admin/evaluations/{number}/delete").status_code == 302
    found = published_evaluation(panel.database, 1, "news")
    assert found is None or found.id != number
    assert not evaluation_folder(panel.settings.instance, number).exists()
    page = panel.client.get(f"/admin/evaluations/{number}").text
    assert "It was deleted, and all that it measured" in page
    assert "Delete it" not in page
    assert list_events(panel.database, action="evaluation.delete", subject=str(number))[0].account == NAME
    assert panel.post(f"/admin/evaluations/{number}/publish").status_code == 409


def test_programs_delete_one_too_but_none_that_runs_and_nothing_else(panel: Panel) -> None:
    headers = {"X-CSRFToken": panel.client.get("/api/v1/admin/session").json["csrf_token"]}

    def delete(number: int) -> int:
        return panel.client.delete(f"/api/v1/admin/evaluations/{number}", headers=headers).status_code

    failed, running = made_up(panel, "failed"), made_up(panel, "running")
    assert [delete(failed), delete(failed)] == [204, 204]
    assert delete(running) == 409
    assert evaluation_folder(panel.settings.instance, running).exists()
    assert [delete(1), delete(10**9)] == [404, 404]  # a run, and none
    with panel.database.writing() as session:
        session.get_one(Job, running).state = "cancelled"


def test_what_a_killed_deletion_left_goes_at_the_next_start(panel: Panel) -> None:
    number = made_up(panel, "deleted")
    finish_deletions(panel.database, panel.settings.instance)
    assert not evaluation_folder(panel.settings.instance, number).exists()


def test_a_viewer_is_told_that_a_job_failed_and_not_why(quiet_panel: Panel) -> None:
    number = made_up(quiet_panel, "failed")
    create_account(quiet_panel.database, "looker", PASSWORD, VIEWER)
    viewer = quiet_panel.app.test_client()
    log_in(viewer, "looker")
    for client, told in ((quiet_panel.client, "why"), (viewer, REDACTED)):
        assert client.get(f"/api/v1/admin/evaluations/{number}").json["error"] == told
        assert client.get(f"/admin/runs/{number}/status").json["error"] == told
        assert told in client.get(f"/admin/evaluations/{number}").text
