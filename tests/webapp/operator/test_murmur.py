"""Is a method of query time run, measured by what devices say, and served like the others?"""

import pytest

from shoal.webapp.jobs.queue import get_job
from tests.webapp.instances import Panel


@pytest.fixture(scope="module")
def number(quiet_panel: Panel) -> int:
    return quiet_panel.run("murmur", menu="10", epsilon="none", k="20", words="3")


def test_its_risk_is_what_is_said_at_searches_and_not_what_is_published(quiet_panel: Panel, number: int) -> None:
    result = get_job(quiet_panel.database, number).result
    assert result is not None
    assert result["holds"]
    # whoever hears five searches finds more people than a guess among 70 does
    assert result["measured"]["linkage5"] > 1.5 / 70
    assert result["measured"]["linkage5"] >= result["measured"]["replayed5"] > 0
    assert result["measured"]["kept"] > 0


def test_its_pages_and_its_catalogue_are_there(quiet_panel: Panel, number: int) -> None:
    release = f"r{number}"
    about = [f"/admin/runs/{number}", f"/admin/releases/{release}"]
    for page in [*about, *(f"{page}release={release}" for page in ("/search?q=government&", "/attack?", "/knows?"))]:
        assert quiet_panel.client.get(page).status_code == 200, page
    with quiet_panel.client.get(f"/admin/releases/{release}/files/catalogue.tsv") as catalogue:
        assert catalogue.text.startswith("term\tusers\tmean\n")
