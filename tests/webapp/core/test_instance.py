"""Is an instance of an older version brought to its place whole, once, and by one process, with nothing lost?"""

import errno
import os
import shutil
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from shoal.cli import main
from shoal.corpus.errors import Conflict, InputError
from shoal.corpus.logs import load_log
from shoal.webapp.core.accounts import check_password, create_account
from shoal.webapp.core.instance import follow_uploads, move_old_instance
from shoal.webapp.core.logs import get_log, read_registered, register_log
from shoal.webapp.core.settings import Settings, default_instance
from shoal.webapp.database import Database
from shoal.webapp.jobs.queue import get_job
from shoal.webapp.jobs.tasks import add_reading
from tests.processes import at_once

PASSWORD = "correct horse battery"
UPLOAD = Path("uploads") / "20260101-000000-aa" / "log.tsv"


@pytest.fixture
def old(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An instance as older versions left it: an account, a key, an upload that the database names by its path."""
    monkeypatch.setenv("SHOAL_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("SHOAL_STATE", str(tmp_path / "state"))
    folder = tmp_path / "cache" / "instance"
    settings = Settings(instance=folder)
    settings.secret_key()
    (folder / UPLOAD).parent.mkdir(parents=True)
    (folder / UPLOAD).write_text("u1\twine\t2006-03-01 10:00:00\t\t\n")
    database = Database(settings.database)
    database.upgrade()
    create_account(database, "olga", PASSWORD)
    register_log(database, load_log(str(folder / UPLOAD))[0], "log.tsv", str(folder / UPLOAD))
    add_reading(database, folder / UPLOAD, "log.tsv")
    database.close()
    return folder


def files_of(folder: Path) -> dict[str, bytes]:
    return {str(p.relative_to(folder)): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


def cross_device(*_: object) -> None:
    raise OSError(errno.EXDEV, "Invalid cross-device link")


def test_it_is_moved_once_with_a_message_and_all_that_it_held(old: Path) -> None:
    said: list[str] = []
    before = files_of(old)
    move_old_instance(default_instance(), said.append)
    assert files_of(default_instance()) == before
    assert not old.exists()
    assert len(said) == 1
    assert str(old) in said[0]
    assert str(default_instance()) in said[0]
    move_old_instance(default_instance(), said.append)
    assert len(said) == 1


def test_what_the_database_names_by_its_path_is_found_after_the_move(old: Path) -> None:
    move_old_instance(default_instance(), lambda _: None)
    database = Database(Settings().database)
    follow_uploads(database, default_instance())
    assert get_log(database, 1).source == str(default_instance() / UPLOAD)
    assert get_job(database, 1).task["path"] == str(default_instance() / UPLOAD)
    assert len(read_registered(database, 1, lambda *_: None)) == 1
    assert check_password(database, "olga", PASSWORD) is not None
    database.close()


def test_to_another_disk_it_is_copied_whole_before_the_old_one_goes(old: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rename, before = os.rename, files_of(old)

    def other_disk(source: Path, target: Path) -> None:
        cross_device() if source == old else rename(source, target)

    monkeypatch.setattr(os, "rename", other_disk)
    move_old_instance(default_instance(), lambda _: None)
    assert files_of(default_instance()) == before
    assert not old.exists()
    assert stat.S_IMODE(default_instance().stat().st_mode) == 0o700
    assert stat.S_IMODE((default_instance() / "secret.key").stat().st_mode) == 0o600


def test_a_copy_that_breaks_off_leaves_the_old_one_and_is_done_again(
    old: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before, copy = files_of(old), shutil.copy2

    def full(source: str, target: str, **more: bool) -> None:
        if source.endswith("shoal.sqlite3"):
            raise OSError(errno.ENOSPC, "No space left on device")
        copy(source, target, **more)

    with monkeypatch.context() as patch:
        patch.setattr(os, "rename", cross_device)
        patch.setattr(shutil.copytree, "__defaults__", (False, None, full, False, False))
        with pytest.raises(InputError, match="make room"):
            move_old_instance(default_instance(), lambda _: None)
    assert files_of(old) == before
    assert not default_instance().exists()
    assert not list(default_instance().parent.glob(".*-moving"))
    move_old_instance(default_instance(), lambda _: None)
    assert files_of(default_instance()) == before


def test_processes_that_start_at_once_move_it_once(old: Path) -> None:
    before = files_of(old)
    load = (
        "from shoal.webapp.core.instance import move_old_instance as move\n"
        "from shoal.webapp.core.settings import default_instance"
    )
    assert at_once(load, "move(default_instance(), print)", 3).count("was moved") == 1
    assert files_of(default_instance()) == before


def test_a_server_that_still_works_on_it_is_not_pulled_away_from(old: Path) -> None:
    program = [sys.executable, "-c", "print(flush=True); input()", "shoal.webapp.core.server"]
    with subprocess.Popen(program, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as server:
        assert server.stdout is not None
        server.stdout.readline()  # until then its command line may not be there
        (old / "metrics").mkdir()
        (old / "metrics" / f"1-{server.pid}.f64").write_bytes(b"")
        with pytest.raises(Conflict, match=f"process {server.pid} still serves"):
            move_old_instance(default_instance(), lambda _: None)
        assert old.is_dir()
        server.kill()
    move_old_instance(default_instance(), lambda _: None)
    assert default_instance().is_dir()


def test_an_instance_that_is_there_is_never_overwritten(old: Path) -> None:
    key = Settings().secret_key()
    said: list[str] = []
    before = files_of(old)
    move_old_instance(default_instance(), said.append)
    assert Settings().secret_key() == key
    assert files_of(old) == before
    assert "left as it is" in said[0]


def test_a_folder_that_was_given_is_used_as_it_is(
    old: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["admin", "create", "vera", "--one-time", "--instance", str(tmp_path / "own")]) == 0
    assert old.is_dir()
    assert main(["admin", "create", "vera", "--one-time"]) == 0
    assert not old.exists()
    assert "was moved" in capsys.readouterr().out
    database = Database(Settings().database)
    assert check_password(database, "olga", PASSWORD) is not None
    database.close()
