"""Is a release that was changed behind the server's back refused everywhere, while plain results go on?"""

import hashlib
import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from sqlalchemy import update

from shoal.anonymizer.manifest import Manifest, read_manifest
from shoal.anonymizer.registry import find_method
from shoal.corpus.errors import Refused
from shoal.webapp.core.activation import activate, get_release, roll_back
from shoal.webapp.core.audit import list_events
from shoal.webapp.core.gate import Consent
from shoal.webapp.core.releases import NOTHING, ActiveReleases
from shoal.webapp.core.seal import Damaged, altered, check_damaged, release_folder, seal_of, seal_old_releases
from shoal.webapp.database import Release
from tests.webapp.instances import Desk, Panel, quick_release

OLGA = Consent("olga", confirmed=True)


def swap_profiles(folder: Path) -> None:
    """Another word in a profile, of the same length."""
    path = folder / "profiles.jsonl"
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    rows[0]["terms"]["qzvwplumox"] = 1
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))


def swap_with_its_digest(folder: Path) -> None:
    """The same by somebody who knows what a manifest is: the folder holds true with itself."""
    swap_profiles(folder)
    manifest = json.loads((folder / "manifest.json").read_text())
    manifest["digests"]["profiles.jsonl"] = hashlib.sha256((folder / "profiles.jsonl").read_bytes()).hexdigest()
    (folder / "manifest.json").write_text(json.dumps(manifest, indent=1, sort_keys=True) + "\n")
    checked: Manifest = read_manifest(folder / "manifest.json", find_method)
    assert checked.digests["profiles.jsonl"] == manifest["digests"]["profiles.jsonl"]


def take_away(folder: Path) -> None:
    (folder / "profiles.jsonl").unlink()


def add_queries(folder: Path) -> None:
    (folder / "queries.tsv").write_text("pseudonym\tquery\tcount\tdegree\n")


def take_all(folder: Path) -> None:
    folder.rename(folder.with_name("elsewhere"))


CHANGES: dict[str, Callable[[Path], None]] = {
    "profiles.jsonl was changed": swap_profiles, "manifest.json was changed": swap_with_its_digest,
    "profiles.jsonl is missing": take_away, "queries.tsv was added": add_queries,
    "manifest.json cannot be read": take_all,
}  # fmt: skip


@pytest.mark.parametrize("desk", ["sqlite"], indirect=True)
def test_an_active_release_that_was_changed_is_not_activated_once_more_until_it_is_mended(desk: Desk) -> None:
    release_id = quick_release(desk)
    assert activate(desk.releases, release_id, OLGA)
    path = release_folder(desk.settings.instance, release_id) / "profiles.jsonl"
    whole = path.read_bytes()
    path.write_bytes(whole + b"\n")
    with pytest.raises(Refused, match=r"profiles\.jsonl was changed"):
        activate(desk.releases, release_id, OLGA)
    assert desk.releases.current_id() is None
    path.write_bytes(whole)
    assert activate(desk.releases, release_id, OLGA)
    assert desk.releases.current_id() == release_id


@pytest.mark.parametrize("desk", ["sqlite"], indirect=True)
@pytest.mark.parametrize("words", CHANGES)
def test_what_was_changed_between_making_and_activation_is_refused(desk: Desk, words: str) -> None:
    release_id = quick_release(desk)
    CHANGES[words](release_folder(desk.settings.instance, release_id))
    with pytest.raises(Refused, match=f"is not what was made \\({words}"):
        activate(desk.releases, release_id, OLGA)
    assert desk.releases.current_id() is None
    assert words in get_release(desk.database, release_id).damaged
    (event,) = list_events(desk.database, action="release.damaged")
    assert words in event.details["what"]


@pytest.mark.parametrize("desk", ["sqlite"], indirect=True)
@pytest.mark.parametrize("change", [swap_profiles, swap_with_its_digest, take_all])
def test_what_was_changed_while_active_is_not_served_by_any_process_that_comes_to_read_it(
    desk: Desk, change: Callable[[Path], None]
) -> None:
    before, release_id = quick_release(desk), quick_release(desk)
    for one in (before, release_id):
        activate(desk.releases, one, OLGA)
    assert desk.releases.current().release_id == release_id
    change(release_folder(desk.settings.instance, release_id))
    other = ActiveReleases(desk.database, desk.settings.instance, desk.releases.log_digest)  # another process
    with pytest.raises(Damaged, match="damaged"):
        other.current()
    for process in (other, desk.releases):
        assert process.serving().release_id == NOTHING
        assert release_id not in [one.release_id for one in process.listed()]
        with pytest.raises(Damaged):
            process.get(release_id)
    assert roll_back(desk.releases, OLGA) == before
    assert other.serving().release_id == before


def test_restored_files_are_found_by_the_next_look(desk: Desk) -> None:
    release_id = quick_release(desk)
    folder = release_folder(desk.settings.instance, release_id)
    whole = (folder / "profiles.jsonl").read_bytes()
    swap_profiles(folder)
    with pytest.raises(Refused):
        activate(desk.releases, release_id, OLGA)
    (folder / "profiles.jsonl").write_bytes(whole)
    check_damaged(desk.database, desk.settings.instance)
    assert activate(desk.releases, release_id, OLGA)
    assert [event.action for event in list_events(desk.database, action="release.m")] == ["release.mended"]


def test_releases_of_an_older_version_are_sealed_as_they_are(desk: Desk) -> None:
    release_id = quick_release(desk)
    with desk.database.writing() as session:
        session.execute(update(Release).values(seal="", exposure={}))
    seal_old_releases(desk.database, desk.settings.instance)
    folder = release_folder(desk.settings.instance, release_id)
    assert get_release(desk.database, release_id).seal == seal_of(folder)
    assert altered(folder, seal_of(folder)) == ""
    assert activate(desk.releases, release_id, OLGA)


@pytest.fixture
def changed(quiet_panel: Panel) -> Iterator[str]:
    """The active release of a server, changed on disk, with nothing of it in memory."""
    active = quiet_panel.releases.current_id()
    assert active is not None
    path = release_folder(quiet_panel.settings.instance, active) / "profiles.jsonl"
    whole = path.read_bytes()
    swap_profiles(path.parent)
    quiet_panel.releases._loaded.cache_clear()
    yield active
    path.write_bytes(whole)
    quiet_panel.post(f"/admin/releases/{active}/check")
    assert quiet_panel.releases.current_id() == active


def test_pages_say_it_searches_go_on_and_the_operator_is_told_which_file(quiet_panel: Panel, changed: str) -> None:
    searcher = quiet_panel.app.test_client()
    for address in (
        "/mine",
        f"/?release={changed}",
        f"/api/v1/releases/{changed}",
        "/api/v1/releases/current/profiles",
    ):
        answer = searcher.get(address)
        assert answer.status_code == 503, address
        assert "damaged" in answer.text
        assert "qzvwplumox" not in answer.text
        assert str(quiet_panel.settings.instance) not in answer.text
    found = searcher.get("/api/v1/search?q=climate").json
    assert (found["release_id"], found["columns"][0]["kind"]) == (NOTHING, "plain")
    assert searcher.get("/search?q=climate").status_code == 200
    for page in ("/admin/", f"/admin/releases/{changed}"):
        assert "profiles.jsonl was changed" in quiet_panel.client.get(page).text, page
    for name in ("profiles.jsonl", "manifest.json"):
        assert quiet_panel.client.get(f"/admin/releases/{changed}/files/{name}").status_code == 503


def test_the_certificate_holds_the_digests_of_all_public_files(quiet_panel: Panel) -> None:
    active = quiet_panel.releases.current_id()
    assert active is not None
    folder, release = (
        release_folder(quiet_panel.settings.instance, active), get_release(quiet_panel.database, active)
    )  # fmt: skip
    files = release.certificate["files"]
    assert files["manifest.json"] == release.seal
    assert set(files) == {path.name for path in folder.iterdir()} - {"assignment.tsv"}
    for name, digest in files.items():
        assert hashlib.sha256((folder / name).read_bytes()).hexdigest() == digest
