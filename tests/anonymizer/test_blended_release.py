"""Is a release that says what its profiles weigh read, checked and made again, and is a wrong average refused?"""

import json
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from shoal.anonymizer.base import CATALOGUE
from shoal.anonymizer.contract.sample_logs import sample_log
from shoal.anonymizer.manifest import MANIFEST
from shoal.anonymizer.publish import FEWEST_USERS, with_average
from shoal.anonymizer.registry import make_method
from shoal.anonymizer.release_files import read_release, write_release
from shoal.anonymizer.verify_stored import reproduce, verify_stored
from shoal.corpus.errors import InputError
from shoal.corpus.knowledge import Knowledge
from shoal.corpus.profiles import build_profiles
from shoal.corpus.searches import Blend

LOG = sample_log()
BLEND = Blend(0.6, 0.2)


def write(folder: Path, method: str = "random", **settings: object) -> Path:
    chosen = make_method(method, settings)
    made = with_average(chosen.run(LOG), build_profiles(LOG, Knowledge().words), BLEND)
    write_release(folder, made, chosen, LOG, 0)
    return folder


@pytest.fixture
def release(tmp_path: Path) -> Path:
    return write(tmp_path / "release", k=5)


def edit_manifest(folder: Path, edit: Callable[[dict[str, Any]], object]) -> None:
    manifest = json.loads((folder / MANIFEST).read_text())
    edit(manifest)
    (folder / MANIFEST).write_text(json.dumps(manifest))


def edit_average(folder: Path, edit: Callable[[list[list[str]]], object]) -> None:
    """Edit the rows of the average, and have the manifest say so."""
    path = folder / CATALOGUE
    header, *rows = [line.split("\t") for line in path.read_text().splitlines()]
    edit(rows)
    path.write_text("".join("\t".join(row) + "\n" for row in [header, *rows]))
    digest = sha256(path.read_bytes()).hexdigest()
    edit_manifest(folder, lambda manifest: manifest["digests"].update({CATALOGUE: digest}))


def test_it_holds_its_weights_and_an_average_of_terms_that_twenty_users_hold(release: Path) -> None:
    stored = read_release(release)
    assert stored.manifest.blend == {"profile": 0.6, "everyone": 0.2}
    assert stored.release.catalogue is not None
    assert stored.release.catalogue.terms
    assert stored.release.catalogue.users.min() >= FEWEST_USERS
    assert verify_stored(stored, LOG).holds
    assert reproduce(release, stored, LOG) == ""


def test_without_weights_there_is_no_average(tmp_path: Path) -> None:
    method = make_method("random", {"k": 5})
    write_release(tmp_path / "release", method.run(LOG), method, LOG, 0)
    assert "blend" not in json.loads((tmp_path / "release" / MANIFEST).read_text())
    assert not (tmp_path / "release" / CATALOGUE).exists()


@pytest.mark.parametrize(
    ("edit", "said"),
    [
        (lambda rows: rows.pop(), "not in the catalogue"),
        (lambda rows: rows.append(["zzyzx", "20", "0.5"]), "fewer than k=20"),
        (lambda rows: rows[0].__setitem__(1, str(int(rows[0][1]) + 1)), "is said to be of"),
        (lambda rows: rows[0].__setitem__(2, "0.123"), "has the mean 0.123"),
    ],
)
def test_an_average_that_the_log_does_not_have_is_broken(
    release: Path, edit: Callable[[list[list[str]]], object], said: str
) -> None:
    edit_average(release, edit)
    verdict = verify_stored(read_release(release), LOG)
    assert not verdict.holds
    assert said in verdict.counterexample


@pytest.mark.parametrize(
    "blend",
    [
        {"profile": 1.2, "everyone": 0}, {"profile": -0.1, "everyone": 0}, {"profile": 0.6, "everyone": 0.5},
        {"profile": True, "everyone": 0}, {"profile": "0.5", "everyone": 0}, {"profile": 0.5}, 0.5, None,
        {"profile": 0.5, "everyone": 0, "who": "ann"},
    ],
)  # fmt: skip
def test_weights_that_are_none_are_refused(release: Path, blend: object) -> None:
    edit_manifest(release, lambda manifest: manifest.update(blend=blend))
    with pytest.raises(InputError, match="is no manifest of a release"):
        read_release(release)


def test_an_average_without_weights_and_weights_without_an_average_are_refused(release: Path, tmp_path: Path) -> None:
    edit_manifest(release, lambda manifest: manifest.pop("blend"))
    with pytest.raises(InputError, match="has not the digests"):
        read_release(release)
    other = write(tmp_path / "other", k=5)
    (other / CATALOGUE).unlink()
    with pytest.raises(InputError, match="is missing"):
        read_release(other)


def test_where_nothing_may_be_published_no_average_is(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="are of nothing"):
        read_release(write(tmp_path / "release", "plain"))
