"""Is a method set in one form? Presets by measured risk, rare parameters folded, several values, one default."""

import re

import pytest
from sqlalchemy import select

from shoal.webapp.core.instance import FIRST_METHODS
from shoal.webapp.database import Job
from shoal.webapp.database.models import DONE, LEVELS
from shoal.webapp.jobs.queue import add_job, cancel_job, finish_job
from tests.webapp.instances import Panel


def runs_of(panel: Panel) -> list[Job]:
    with panel.database.reading() as session:
        return list(session.scalars(select(Job).order_by(Job.id)))


def test_several_values_start_a_run_each_and_are_chosen_to_compare(quiet_panel: Panel) -> None:
    before = len(runs_of(quiet_panel))
    answer = quiet_panel.post("/admin/methods/random", what="preview", log="1", k="3, 5,10, 5")
    new = runs_of(quiet_panel)[before:]
    assert [job.task["params"]["k"] for job in new] == [3, 5, 10]
    assert answer.location == "/admin/runs?method=random&" + "&".join(f"run={job.id}" for job in new)
    for job in new:
        quiet_panel.wait(job.id)
    page = quiet_panel.client.get(answer.location).text
    assert len(re.findall(r'name="run" value="\d+" checked', page)) == 3
    page = quiet_panel.client.get(f"/admin/runs/{new[0].id}").text
    assert "It is a sample of 70 people" in page
    assert re.search(r"may be anything from [\d.]+ % to [\d.]+ %, and AP@10 from 0\.\d+ to [01]\.\d+", page)


@pytest.mark.parametrize("values", ["3, 1", "3, five", ", ".join(map(str, range(2, 20)))])
def test_one_bad_value_among_several_starts_nothing(quiet_panel: Panel, values: str) -> None:
    before = len(runs_of(quiet_panel))
    answer = quiet_panel.post("/admin/methods/random", what="run", log="1", k=values)
    assert answer.status_code == 400
    assert f'value="{values}"' in answer.text
    assert len(runs_of(quiet_panel)) == before


def test_the_form_begins_with_what_the_server_takes_and_folds_the_rest(quiet_panel: Panel) -> None:
    method, taken = FIRST_METHODS[0]
    page = quiet_panel.client.get(f"/admin/methods/{method}").text
    for name, value in taken.items():
        assert re.search(rf'name="{name}" value="{value}"', page), name
    first, folded = page.split("<summary>More parameters", 1)
    assert all(f'name="{name}"' in first for name in taken)
    assert 'class="parameter"' in folded


def test_presets_are_the_levels_that_were_measured(quiet_panel: Panel) -> None:
    number = add_job(quiet_panel.database, LEVELS, {"log": 1, "seed": 0}, 1)
    cancel_job(quiet_panel.database, number)
    found = {"random": {"medium": {"params": {"k": 17}, "linkage5": 0.047}}}
    finish_job(quiet_panel.database, number, DONE, result={"levels": found})
    page = quiet_panel.client.get("/admin/methods/random").text
    assert 'href="/admin/methods/random?k=17"' in page
    assert "k = 17, 4.7 % found" in page
    assert 'name="k" value="17"' in quiet_panel.client.get("/admin/methods/random?k=17").text


def test_the_plot_of_the_overview_links_every_release_and_marks_the_active_one(quiet_panel: Panel) -> None:
    page = quiet_panel.client.get("/admin/").text
    assert re.search(r'<a href="/admin/runs/1" aria-label="r1: [^"]+" class="is-active">', page)


def test_a_comparison_begins_with_what_was_measured(quiet_panel: Panel) -> None:
    done = [job.id for job in runs_of(quiet_panel) if job.state == "done" and "method" in job.task][:2]
    page = quiet_panel.client.get("/admin/compare", query_string=[("run", number) for number in done]).text
    assert page.index(">Measured <") < page.index(">Parameters <")
