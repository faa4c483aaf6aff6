"""What does a server do whose database is lost, old, broken or away? It says what to do, and forgets nothing."""

import os
import shutil
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from shoal.cli import main
from shoal.corpus.errors import Conflict, Unavailable
from shoal.webapp.core.instance import open_database
from shoal.webapp.core.settings import Settings
from shoal.webapp.database import Database
from shoal.webapp.jobs.queue import add_job
from tests.webapp.databases import NewDatabaseURL
from tests.webapp.instances import Panel

REFUSED = "the database does not know r1, r2, r3, ... in .*: it was lost, or is older"


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    """An instance with five runs and their folders."""
    made = Settings(instance=tmp_path / "instance")
    database = open_database(made)
    for _ in range(5):
        number = add_job(database, "run", {"log": 1}, 1)
        (made.instance / "runs" / f"r{number}" / "release").mkdir(parents=True)
    database.close()
    return made


def file_of(settings: Settings) -> Path:
    return settings.instance / "shoal.sqlite3"


def lose(settings: Settings) -> None:
    for path in settings.instance.glob("shoal.sqlite3*"):
        path.unlink()


def empty(settings: Settings) -> None:
    lose(settings)
    file_of(settings).touch()


def begin_anew(settings: Settings) -> None:
    """What an older version did: an empty database with all its tables."""
    lose(settings)
    database = Database(settings.database)
    database.upgrade()
    database.close()


@pytest.mark.parametrize("happened", [lose, empty, begin_anew])
def test_a_lost_or_empty_database_over_runs_is_refused_every_time(
    settings: Settings, happened: Callable[[Settings], None], capsys: pytest.CaptureFixture[str]
) -> None:
    happened(settings)
    for _ in range(2):
        with pytest.raises(Conflict, match=REFUSED) as refused:
            open_database(settings)
        assert "Restore its latest copy" in str(refused.value)
        assert main(["admin", "create", "vera", "--one-time", "--instance", str(settings.instance)]) == 2
    said = capsys.readouterr()
    assert "First start" not in said.out
    assert "Restore its latest copy" in said.err


def test_a_copy_that_is_older_than_the_last_run_is_refused(settings: Settings) -> None:
    copy = settings.instance / "copy"
    shutil.copy(file_of(settings), copy)
    database = open_database(settings)
    number = add_job(database, "run", {"log": 1}, 1)
    (settings.instance / "runs" / f"r{number}").mkdir()
    database.close()
    lose(settings)
    shutil.copy(copy, file_of(settings))
    with pytest.raises(Conflict, match=f"does not know r{number} in"):
        open_database(settings)


def test_another_database_server_that_is_empty_is_refused_too(
    settings: Settings, new_database_url: NewDatabaseURL
) -> None:
    with pytest.raises(Conflict, match=REFUSED):
        open_database(replace(settings, database_url=new_database_url("postgresql")))


def test_with_the_runs_moved_away_a_server_begins_anew(settings: Settings) -> None:
    lose(settings)
    (settings.instance / "runs").rename(settings.instance / "runs-of-before")
    open_database(settings).close()


def test_an_instance_that_knows_its_runs_starts_again(settings: Settings) -> None:
    (settings.instance / "runs" / "r1" / ".half").touch()
    (settings.instance / "runs" / "notes").mkdir()
    open_database(settings).close()


def overwrite(path: Path) -> None:
    path.write_bytes(b"this was a database once" * 500)


def cut(path: Path) -> None:
    os.truncate(path, path.stat().st_size // 3)


def scratch(path: Path) -> None:
    with path.open("r+b") as file:
        file.seek(4096)
        file.write(os.urandom(8 * 4096))


@pytest.mark.parametrize("damage", [overwrite, cut, scratch])
def test_a_broken_database_says_what_to_do_on_one_line(
    settings: Settings, damage: Callable[[Path], None], capsys: pytest.CaptureFixture[str]
) -> None:
    damage(file_of(settings))
    for path in settings.instance.glob("*-wal"):
        path.unlink()
    with pytest.raises(Unavailable, match="the database file is broken: stop the server, put the latest copy"):
        open_database(settings)
    capsys.readouterr()
    assert main(["admin", "create", "vera", "--one-time", "--instance", str(settings.instance)]) == 2
    said = capsys.readouterr().err.strip()
    assert "the database file is broken" in said
    assert "\n" not in said


@pytest.fixture
def away(quiet_panel: Panel, monkeypatch: pytest.MonkeyPatch) -> Iterator[Panel]:
    """A server whose database has gone away, as PostgreSQL does when it is stopped."""
    gone = Database("postgresql://shoal:hush-hush@127.0.0.1:1/name")
    monkeypatch.setitem(quiet_panel.app.extensions, "shoal.database", gone)
    monkeypatch.setitem(quiet_panel.app.extensions, "shoal.releases", replace(quiet_panel.releases, database=gone))
    yield quiet_panel
    gone.close()


@pytest.mark.parametrize(
    "address",
    ["/", "/search?q=climate", "/mine", "/healthz", "/admin/", "/admin/releases", "/admin/login", "/api/v1/search?q=a",
     "/api/v1/releases", "/api/v1/admin/runs", "/answer"],
)  # fmt: skip
def test_a_database_that_is_away_is_a_page_that_does_not_say_where_it_is(away: Panel, address: str) -> None:
    answer = away.client.get(address)
    assert answer.status_code == 503
    assert "database does not answer" in answer.text
    for secret in ("127.0.0.1", "hush-hush", "psycopg"):
        assert secret not in answer.text


def test_a_change_while_the_database_is_away_is_refused_and_nothing_breaks(away: Panel) -> None:
    for address in ("/admin/rollback", "/admin/releases/r1/withdraw", "/api/v1/admin/rollback"):
        assert away.client.post(address).status_code in (400, 503), address


def test_a_database_that_cannot_be_reached_is_unavailable() -> None:
    database = Database("postgresql://someone:hush-hush@127.0.0.1:1/name")
    with pytest.raises(Unavailable) as refused, database.reading() as session:
        session.connection()
    assert "127.0.0.1" not in str(refused.value)
    database.close()
