"""Does a release stay in until it is activated? Searchers cannot name it; the operator tries it out first."""

import pytest

from shoal.webapp.core.releases import ActiveReleases
from tests.webapp.instances import Panel

NAMING = (
    "/?release={id}",
    "/search?q=climate&release={id}",
    "/search?q=climate&release={id}&group={group}",
    "/why?q=climate&document=0&release={id}&group={group}",
    "/people?release={id}",
    "/knows?user={user}&release={id}",
    "/attack?user={user}&release={id}",
    "/api/v1/search?q=climate&release={id}&group={group}",
    "/api/v1/why?q=climate&document=0&column=anonymized&release={id}&group={group}",
    "/api/v1/users/{user}/profile?release={id}",
    "/api/v1/users/{user}/attack?release={id}",
    "/api/v1/releases/{id}",
)


@pytest.fixture(scope="module")
def naming(panel: Panel) -> list[str]:
    """Every address that names a release, here one of the original profiles that nobody activated."""
    release_id = f"r{panel.run('original')}"
    releases: ActiveReleases = panel.app.extensions["shoal.releases"]
    group = releases.get(release_id).stored.release.pseudonyms[0]
    user = panel.app.extensions["shoal.service"].people.featured[0].key
    return [address.format(id=release_id, group=group, user=user) for address in NAMING]


def test_to_searchers_it_does_not_exist(panel: Panel, naming: list[str]) -> None:
    searcher = panel.app.test_client()
    release_id = naming[0].partition("=")[2]
    for address in naming:
        answer = searcher.get(address)
        assert answer.status_code == 404, address
        assert "no such release" in answer.text, address
    assert searcher.get(f"/api/v1/releases/{release_id}/profiles").status_code == 404
    listed = searcher.get("/api/v1/releases").json
    assert release_id not in [one["release_id"] for one in listed["releases"]]
    assert listed["current"] in [one["release_id"] for one in listed["releases"]]
    assert f'value="{release_id}"' not in searcher.get("/search?q=climate").text


def test_the_operator_tries_it_out_and_then_shows_it_to_all(panel: Panel, naming: list[str]) -> None:
    release_id = naming[0].partition("=")[2]
    for address in naming:
        assert panel.client.get(address).status_code in (200, 404), address  # why: the document may not be a candidate
    assert panel.client.get(f"/api/v1/releases/{release_id}/profiles").status_code == 404
    assert f'value="{release_id}"' in panel.client.get("/search?q=climate").text
    assert f'href="/?release={release_id}"' in panel.client.get(f"/admin/runs/{release_id[1:]}").text
    assert panel.post(f"/admin/releases/{release_id}/activate", confirmed="yes", note="").status_code == 302
    searcher = panel.app.test_client()
    assert searcher.get("/api/v1/releases").json["current"] == release_id
    assert searcher.get(naming[1]).status_code == 200
    panel.post("/admin/rollback")
    for address in naming:  # going back from what is above the ceiling takes it away from everybody
        assert searcher.get(address).status_code == 410, address
        assert panel.client.get(address).status_code == 410, address
