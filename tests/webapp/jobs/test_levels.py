"""Is there a choice soon after the first start? Every method at three levels by measured risk, made by the server."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from sqlalchemy import select

from shoal.anonymizer.registry import methods
from shoal.corpus.logs import load_log
from shoal.evaluation.experiment.settings import Setting
from shoal.search.index import index_for
from shoal.webapp.core.instance import open_releases
from shoal.webapp.core.logs import ServedLog
from shoal.webapp.core.releases import ActiveReleases
from shoal.webapp.database import Job
from shoal.webapp.database.models import CANCELLED, DONE, INTERRUPTED, LEVELS, QUEUED, RUN
from shoal.webapp.jobs import levels
from shoal.webapp.jobs.levels import BOUNDS, _Plan, choose_levels, latest_levels, offer_levels
from shoal.webapp.jobs.queue import cancel_job, claim_job, finish_job, get_job, waiting_jobs
from shoal.webapp.jobs.tasks import add_run
from shoal.webapp.jobs.worker import work
from tests.webapp.instances import Desk, Panel

ON_ONE_DATABASE = pytest.mark.parametrize("desk", ["sqlite"], indirect=True)  # a job is asked for as any other is


def one_over_k(setting: Setting) -> float:
    return 1 / float(setting.value("k"))


def test_the_levels_are_those_that_come_nearest_to_the_bounds_from_below() -> None:
    found = choose_levels("random", one_over_k)
    assert list(found) == list(BOUNDS)
    for level, bound in BOUNDS.items():
        assert 0.7 * bound <= found[level].risk <= bound, level
    assert found["low"].setting.value("k") == 5


def test_a_method_that_is_risky_everywhere_is_offered_at_its_safest() -> None:
    found = choose_levels("random", lambda setting: 0.9 - 0.001 * np.log(float(setting.value("k"))))
    assert len(found) == 3
    assert found["high"].setting.value("k") == 800  # beyond the usual levels
    assert found["low"].risk > found["medium"].risk > found["high"].risk


def test_a_method_that_refuses_large_groups_is_offered_at_what_it_takes() -> None:
    found = choose_levels("random", lambda s: one_over_k(s) if float(s.value("k")) <= 10 else None)
    assert {one.setting.value("k") for one in found.values()} == {2, 5, 10}
    assert choose_levels("random", lambda _: None) == {}
    assert list(choose_levels("everyone", lambda _: 0.001)) == [""]


@pytest.fixture
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    some = {id: method for id, method in methods().items() if id in ("everyone", "random", "linkability")}
    monkeypatch.setattr(levels, "methods", lambda: some)


@pytest.mark.usefixtures("few")
def test_progress_counts_releases_and_not_what_is_measured_to_find_them(small_log: Path) -> None:
    told: list[tuple[int, int, str]] = []

    class Told:
        def step(self, number: int, title: str) -> None: ...

        def __call__(self, done: int, total: int, stage: str) -> None:
            told.append((done, total, stage))

    plan = _Plan(load_log(str(small_log))[0], 0, Told(), index_for("news"))
    assert next(iter(plan)).setting.method in ("everyone", "random", "linkability")
    assert told
    assert {(done, total) for done, total, _ in told} == {(0, 7)}


@ON_ONE_DATABASE
@pytest.mark.usefixtures("few")
def test_every_method_is_made_once_and_is_for_all_to_choose(desk: Desk) -> None:
    offer_levels(desk.database, desk.log_id, "news")
    offer_levels(desk.database, desk.log_id, "news")
    (number,) = waiting_jobs(desk.database)
    assert work(desk.database, desk.settings, number)
    job = get_job(desk.database, number)
    assert (job.kind, job.state, job.error) == (LEVELS, DONE, "")
    log, _ = load_log(desk.settings.log)
    offered = ActiveReleases(desk.database, desk.settings.instance, log.digest()).listed(only_public=True)
    assert {one.method for one in offered} == {"everyone", "random", "linkability"}
    assert len(offered) == 7
    for method, found in job.result["levels"].items():
        made = sorted(one.measured["linkage5"] for one in offered if one.method == method)
        assert made == pytest.approx(sorted(level["linkage5"] for level in found.values()), rel=1e-5), method
    with desk.database.reading() as session:
        firsts = [run.task for run in session.scalars(select(Job).where(Job.kind == RUN).order_by(Job.id).limit(3))]
    assert {task["method"] for task in firsts} == {"everyone", "random", "linkability"}  # one of each before a second
    finish_job(desk.database, number, INTERRUPTED)
    offer_levels(desk.database, desk.log_id, "news")
    assert work(desk.database, desk.settings, number)
    assert len(ActiveReleases(desk.database, desk.settings.instance, log.digest()).listed()) == 7


def test_the_process_of_the_levels_keeps_nobody_waiting(desk: Desk) -> None:
    offer_levels(desk.database, desk.log_id, "news")
    (number,) = waiting_jobs(desk.database)
    assert claim_job(desk.database, number) is not None
    wanted = add_run(desk.database, "everyone", {}, desk.log_id)
    assert waiting_jobs(desk.database) == [wanted]
    assert claim_job(desk.database, wanted) is not None


def test_levels_that_were_cancelled_are_not_begun_anew(desk: Desk) -> None:
    offer_levels(desk.database, desk.log_id, "news")
    (number,) = waiting_jobs(desk.database)
    cancel_job(desk.database, number)
    offer_levels(desk.database, desk.log_id, "news")
    found = latest_levels(desk.database, desk.log_id)
    assert found is not None
    assert (found.id, found.state) == (number, CANCELLED)


@ON_ONE_DATABASE
@pytest.mark.parametrize(("people", "expected"), [("simulated", [LEVELS]), ("public", [LEVELS]), ("real", [])])
def test_of_real_people_nothing_is_made_by_itself(desk: Desk, people: str, expected: list[str]) -> None:
    log = replace(load_log(desk.settings.log)[0], people=people)  # type: ignore[arg-type]
    served = ServedLog("log", desk.settings.log, people, log.digest(), False, lambda: log)  # type: ignore[arg-type]
    desk.settings.protect_folder()
    releases = open_releases(replace(desk.settings, levels=True), desk.database, served, index_for("news"))
    assert releases.current_id() is not None
    with desk.database.reading() as session:
        assert [job.kind for job in session.scalars(select(Job).where(Job.state == QUEUED))] == expected


def test_the_overview_shows_how_far_it_is_and_stops_it(quiet_panel: Panel) -> None:
    offer_levels(quiet_panel.database, 1, "news")
    page = quiet_panel.client.get("/admin/").text
    assert "Every method at three levels" in page
    found = latest_levels(quiet_panel.database, 1)
    assert found is not None
    answer = quiet_panel.post(f"/admin/runs/{found.id}/cancel")
    assert answer.location == "/admin/"
    assert quiet_panel.wait(found.id) == CANCELLED
    finish_job(quiet_panel.database, found.id, DONE)  # so that no other test begins it anew
    assert "Every method at three levels" not in quiet_panel.client.get("/admin/").text
