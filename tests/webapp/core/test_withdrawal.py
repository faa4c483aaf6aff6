"""Is what was withdrawn gone for everybody, at once and for good, and does nothing come back by another way?"""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest
from sqlalchemy import func, select

from shoal.corpus.errors import Conflict, Gone, NotFound
from shoal.search.index import index_for
from shoal.webapp.core.activation import activate, get_release, history, previous, roll_back
from shoal.webapp.core.audit import list_events
from shoal.webapp.core.gate import Consent
from shoal.webapp.core.instance import open_releases
from shoal.webapp.core.logs import served_log
from shoal.webapp.core.releases import NOTHING
from shoal.webapp.core.seal import release_folder
from shoal.webapp.core.tokens import new_token
from shoal.webapp.core.withdrawal import delete_release, delete_run, finish_deletions, withdraw
from shoal.webapp.database import Job, Release
from shoal.webapp.database.models import DELETED, QUEUED, TokenGroup
from shoal.webapp.jobs.queue import get_job
from shoal.webapp.jobs.tasks import add_run
from tests.webapp.core.test_unpublished import NAMING
from tests.webapp.instances import Desk, Panel, quick_release

OLGA = Consent("olga", confirmed=True)


def state(desk: Desk, release_id: str) -> str:
    return get_release(desk.database, release_id).state


def test_a_release_goes_from_state_to_state_and_every_change_is_written_down(desk: Desk) -> None:
    first, second = quick_release(desk), quick_release(desk)
    assert state(desk, first) == "made"
    activate(desk.releases, first, OLGA)
    assert state(desk, first) == "active"
    activate(desk.releases, second, OLGA)
    assert (state(desk, first), state(desk, second)) == ("retired", "active")
    withdraw(desk.releases, first, "vera", "a mistake")
    assert state(desk, first) == "withdrawn"
    delete_release(desk.releases, first, "vera")
    assert state(desk, first) == "deleted"
    told = [(event.action, event.account) for event in reversed(list_events(desk.database, subject=first))]
    assert told == [
        ("release.activate", "olga"), ("release.retire", "olga"), ("release.withdraw", "vera"),
        ("release.delete", "vera"),
    ]  # fmt: skip


def test_what_is_withdrawn_is_in_no_list_cannot_be_read_and_does_not_come_back(desk: Desk) -> None:
    gone, other = quick_release(desk), quick_release(desk)
    activate(desk.releases, gone, OLGA)
    assert desk.releases.get(gone).release_id == gone  # it is in memory now
    activate(desk.releases, other, OLGA)
    withdraw(desk.releases, gone, "olga")
    withdraw(desk.releases, gone, "olga")  # twice is once
    for only_public in (False, True):
        assert gone not in [one.release_id for one in desk.releases.listed(only_public=only_public)]
        with pytest.raises(Gone, match="was withdrawn"):
            desk.releases.get(gone, only_public=only_public)
    with pytest.raises(Gone, match="does not come again"):
        activate(desk.releases, gone, OLGA)
    assert previous(history(desk.database, desk.releases.log_digest)) is None


def test_with_a_release_it_is_forgotten_who_has_which_pseudonym_in_it(desk: Desk) -> None:
    release_id, key = quick_release(desk), b"k" * 32
    activate(desk.releases, release_id, OLGA)
    with desk.database.writing() as session:
        number, _ = new_token(session, key, desk.releases.log_digest, "u1", days=1, about="", by="olga")
        session.add(TokenGroup(token_id=number, release_id=release_id, pseudonyms={"ids": ["p0001"]}))
    withdraw(desk.releases, release_id, "olga")
    with desk.database.reading() as session:
        assert session.scalars(select(TokenGroup)).all() == []


def test_without_an_active_release_results_are_plain_and_a_start_makes_none(desk: Desk) -> None:
    only = quick_release(desk)
    activate(desk.releases, only, OLGA)
    withdraw(desk.releases, only, "olga")
    with pytest.raises(NotFound, match="no release is active"):
        desk.releases.current()
    assert desk.releases.serving().release_id == NOTHING
    assert len(desk.releases.serving().stored.release) == 0
    served = served_log(desk.database, desk.settings.log)
    assert open_releases(desk.settings, desk.database, served, index_for("news")).current_id() is None
    with desk.database.reading() as session:
        assert session.scalar(select(func.count()).select_from(Job)) == 1


def test_what_was_never_public_is_deleted_and_not_withdrawn(desk: Desk) -> None:
    made = quick_release(desk)
    with pytest.raises(Conflict, match="never public"):
        withdraw(desk.releases, made, "olga")
    delete_release(desk.releases, made, "olga")
    assert state(desk, made) == "deleted"


def test_rolling_back_goes_down_a_stack_and_never_up_again(desk: Desk) -> None:
    a, b, c, d = (quick_release(desk) for _ in range(4))
    for release_id in (a, b, c):
        activate(desk.releases, release_id, OLGA)
    assert roll_back(desk.releases, OLGA) == b
    activate(desk.releases, d, OLGA)
    assert [roll_back(desk.releases, OLGA) for _ in range(2)] == [b, a]
    with pytest.raises(Conflict, match="no earlier release"):
        roll_back(desk.releases, OLGA)
    assert desk.releases.current_id() == a
    notes = [(switch.release_id, switch.note) for switch in history(desk.database, desk.releases.log_digest)[:2]]
    assert notes == [(a, f"rolled back from {b}"), (b, f"rolled back from {d}")]


def test_rolling_back_leaves_out_what_was_withdrawn(desk: Desk) -> None:
    a, b, c = (quick_release(desk) for _ in range(3))
    for release_id in (a, b, c):
        activate(desk.releases, release_id, OLGA)
    withdraw(desk.releases, b, "olga")
    assert roll_back(desk.releases, OLGA) == a


def test_rolling_back_withdraws_what_was_above_the_ceiling_and_nothing_else(desk: Desk) -> None:
    safe, risky, other = quick_release(desk), quick_release(desk, risk=0.3), quick_release(desk, risk=0.05)
    for leaves, becomes in ((risky, "withdrawn"), (other, "retired")):
        activate(desk.releases, safe, OLGA)
        activate(desk.releases, leaves, OLGA)
        assert roll_back(desk.releases, OLGA) == safe
        assert state(desk, leaves) == becomes


def test_activations_at_the_same_time_leave_one_active(desk: Desk) -> None:
    made = [quick_release(desk) for _ in range(4)]
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda i: activate(desk.releases, made[i % 4], OLGA), range(24)))
    with desk.database.reading() as session:
        active = session.scalars(select(Release.id).where(Release.state == "active")).all()
    assert active == [desk.releases.current_id()]
    assert active == [history(desk.database, desk.releases.log_digest)[0].release_id]


def test_of_what_is_deleted_the_files_are_gone_and_the_id_stays(desk: Desk) -> None:
    kept, gone = quick_release(desk), quick_release(desk, risk=0.5)
    activate(desk.releases, gone, OLGA)
    with pytest.raises(Conflict, match="serves all searchers"):
        delete_release(desk.releases, gone, "olga")
    activate(desk.releases, kept, OLGA)
    delete_run(desk.releases, int(gone[1:]), "olga")
    row, job = get_release(desk.database, gone), get_job(desk.database, int(gone[1:]))
    assert (row.state, row.measured, row.certificate, row.exposure) == ("deleted", {}, {}, {})
    assert (job.state, job.result) == (DELETED, {})
    assert not release_folder(desk.settings.instance, gone).parent.exists()
    assert quick_release(desk) not in (kept, gone)
    assert "release.withdraw" in [event.action for event in list_events(desk.database, subject=gone)]


def test_a_deletion_that_was_broken_off_is_finished_by_the_next_start(desk: Desk) -> None:
    gone = quick_release(desk)
    folder = release_folder(desk.settings.instance, gone).parent
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("shoal.webapp.core.withdrawal.shutil.rmtree", lambda _: None)
        delete_release(desk.releases, gone, "olga")
    assert folder.exists()
    finish_deletions(desk.database, desk.settings.instance)
    assert not folder.exists()


def test_a_run_without_a_release_is_deleted_when_it_is_at_its_end(desk: Desk) -> None:
    number = add_run(desk.database, "random", {"k": 5}, desk.log_id)
    with pytest.raises(Conflict, match=f"is {QUEUED}: cancel it"):
        delete_run(desk.releases, number, "olga")
    preview = add_run(desk.database, "random", {"k": 5}, desk.log_id, users=20)
    with desk.database.writing() as session:
        session.get_one(Job, preview).state = "failed"
    delete_run(desk.releases, preview, "olga")
    assert get_job(desk.database, preview).state == DELETED
    for nothing in (0, 999_999, 2**40):
        with pytest.raises(NotFound):
            delete_run(desk.releases, nothing, "olga")


@pytest.fixture(scope="module")
def withdrawn(panel: Panel) -> Iterator[tuple[str, list[str]]]:
    """A release that served all searchers and was looked at by every way, then withdrawn while it was active."""
    before, release_id = panel.releases.current_id(), f"r{panel.run('random', k='9')}"
    assert before is not None
    activate(panel.releases, release_id, OLGA)
    group = panel.releases.get(release_id).stored.release.pseudonyms[0]
    user = panel.app.extensions["shoal.service"].people.featured[0].key
    naming = [address.format(id=release_id, group=group, user=user) for address in NAMING]
    naming.append(f"/api/v1/releases/{release_id}/profiles")
    for address in naming:
        assert panel.app.test_client().get(address).status_code in (200, 404)  # why: the document is no candidate
    answer = panel.post(f"/admin/releases/{release_id}/withdraw", note="shown too much")
    assert answer.status_code == 302
    yield release_id, naming
    activate(panel.releases, before, OLGA)


def test_a_withdrawn_release_is_gone_on_pages_programs_downloads_and_lists(
    panel: Panel, withdrawn: tuple[str, list[str]]
) -> None:
    release_id, naming = withdrawn
    for client in (panel.app.test_client(), panel.client):
        for address in naming:
            assert client.get(address).status_code in (404, 410), address
        listed = client.get("/api/v1/releases").json
        assert release_id not in [one["release_id"] for one in listed["releases"]]
        for address in ("/", "/search?q=climate", "/answer", "/attack/map"):
            assert f'"{release_id}"' not in client.get(address).text, address
            assert f"release={release_id}" not in client.get(address).text, address
    for start in ("/admin", "/api/v1/admin"):
        assert panel.client.get(f"{start}/releases/{release_id}/files/profiles.jsonl").status_code == 410
    run = panel.client.get(f"/api/v1/admin/runs/{release_id[1:]}").json
    assert run["files"] == []


def test_its_page_in_the_panel_says_what_happened_and_what_cannot_be_reached(
    panel: Panel, withdrawn: tuple[str, list[str]]
) -> None:
    page = panel.client.get(f"/admin/releases/{withdrawn[0]}").text
    for words in ("shown too much", "Copies that others fetched", "Delete it", "withdrawn"):
        assert words in page
    assert "Activate" not in page
    told = panel.client.get(f"/api/v1/admin/releases/{withdrawn[0]}").json
    assert (told["state"], told["acts"]) == ("withdrawn", ["delete"])


def test_after_it_searches_are_plain_and_the_server_is_well(panel: Panel, withdrawn: tuple[str, list[str]]) -> None:
    searcher = panel.app.test_client()
    found = searcher.get("/api/v1/search?q=climate").json
    assert (found["release_id"], [column["kind"] for column in found["columns"]]) == (NOTHING, ["plain"])
    for address in ("/", "/search?q=climate", "/healthz", "/api/v1/dial?risk=5"):
        assert searcher.get(address).status_code == 200, address
    assert searcher.get("/mine").status_code == 404
    assert searcher.get("/api/v1/releases/current/profiles").status_code == 404
    assert "No release is active" in panel.client.get("/admin/").text
