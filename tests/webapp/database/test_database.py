"""Does the database keep what it is given, on SQLite and on PostgreSQL?"""

import sqlite3
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from threading import Timer

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from sqlalchemy import func, select, text
from sqlalchemy.exc import IntegrityError, OperationalError

from shoal.corpus.errors import InputError, Unavailable
from shoal.webapp.database import Account, Activation, Database, Job, newest_version
from shoal.webapp.database.models import RUN, Table, now
from tests.processes import at_once
from tests.webapp.databases import NewDatabaseURL


def add_account(database: Database, *names: str) -> None:
    with database.writing() as opened:
        for name in names:
            opened.add(Account(name=name, password="hashed"))
            opened.flush()


def test_the_migrations_make_exactly_the_tables_of_the_models(database: Database) -> None:
    with database.reading() as opened:
        context = MigrationContext.configure(opened.connection(), opts={"compare_type": True})
        assert compare_metadata(context, Table.metadata) == []


def test_migrating_twice_changes_nothing(database: Database) -> None:
    with database.writing() as opened:
        opened.add(Account(name="someone", password="hashed"))
    database.upgrade()
    with database.reading() as opened:
        assert opened.scalar(select(func.count()).select_from(Account)) == 1


@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
def test_servers_that_start_at_once_migrate_once(kind: str, new_database_url: NewDatabaseURL) -> None:
    url = new_database_url(kind)
    at_once("from shoal.webapp.database import Database", "Database(sys.argv[1]).upgrade()", 3, url)


def test_an_error_undoes_the_whole_transaction(database: Database) -> None:
    with pytest.raises(IntegrityError):
        add_account(database, "half", "half")
    with database.reading() as opened:
        assert opened.scalar(select(Account)) is None


def test_an_activation_of_a_release_that_is_not_there_is_refused(database: Database) -> None:
    with pytest.raises(IntegrityError), database.writing() as opened:
        opened.add(Activation(release_id="r99"))


def test_a_time_comes_back_as_it_went_in(database: Database) -> None:
    moment = now()
    with database.writing() as opened:
        opened.add(Job(kind=RUN, task={}, started_at=moment))
    with database.reading() as opened:
        job = opened.scalars(select(Job)).one()
    assert job.started_at == moment
    assert job.started_at.tzinfo is not None
    assert job.finished_at is None


def test_writers_at_the_same_time_lose_nothing(database: Database) -> None:
    with database.writing() as opened:
        opened.add(Job(kind=RUN, task={}))

    def add_one(_: int) -> None:
        with database.writing() as opened:
            job = opened.scalars(select(Job).with_for_update()).one()
            job.done += 1

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(add_one, range(80)))
    with database.reading() as opened:
        assert opened.scalars(select(Job)).one().done == 80


def test_sqlite_keeps_a_journal_ahead_and_watches_foreign_keys(tmp_path: Path) -> None:
    database = Database(f"sqlite:///{tmp_path / 'new' / 'shoal.sqlite3'}")
    with database.reading() as opened:
        found = [opened.execute(text(f"PRAGMA {name}")).scalar() for name in ("journal_mode", "foreign_keys")]
    database.close()
    assert found == ["wal", 1]


def test_a_new_file_that_another_writes_is_waited_for(tmp_path: Path) -> None:
    path = tmp_path / "shoal.sqlite3"
    other = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
    other.execute("BEGIN IMMEDIATE")
    done = Timer(0.3, other.rollback)
    done.start()
    database = Database(f"sqlite:///{path}")
    database.upgrade()
    assert not done.is_alive()
    assert database.version() == newest_version()
    done.join()
    database.close()
    other.close()


def test_a_new_file_that_stays_locked_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shoal.webapp.database._BUSY_SECONDS", 0.2)
    path = tmp_path / "shoal.sqlite3"
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(Unavailable, match="locked by another process"):
            Database(f"sqlite:///{path}").upgrade()


def test_a_locked_database_says_so_and_loses_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shoal.webapp.database._BUSY_SECONDS", 0.2)
    url = f"sqlite:///{tmp_path / 'shoal.sqlite3'}"
    holder, other = Database(url), Database(url)
    holder.upgrade()
    with holder.writing() as held:
        held.add(Account(name="first", password="hashed"))
        held.flush()
        with other.reading() as opened:  # readers are not kept waiting
            assert opened.scalar(select(Account)) is None
        with pytest.raises(InputError, match="locked by another process"):
            add_account(other, "second")
    add_account(other, "second")
    with holder.reading() as opened:
        assert opened.scalars(select(Account.name).order_by(Account.name)).all() == ["first", "second"]
    holder.close()
    other.close()


def test_a_full_disk_says_so_and_loses_nothing(tmp_path: Path) -> None:
    database = Database(f"sqlite:///{tmp_path / 'shoal.sqlite3'}")
    database.upgrade()
    with database.writing() as opened:
        opened.execute(text("PRAGMA max_page_count = 1"))  # SQLite never goes below what it has
        opened.add(Job(kind=RUN, task={"text": "x" * 5_000_000}))
        with pytest.raises(OperationalError):
            opened.flush()
        opened.rollback()
    with pytest.raises(InputError, match="disk of the database is full"):
        add_account(database, "a name" * 10**6)
    database.close()
    database = Database(f"sqlite:///{tmp_path / 'shoal.sqlite3'}")
    with database.writing() as opened:
        assert opened.scalar(select(Job)) is None
        opened.add(Job(kind=RUN, task={}))
    database.close()


def names(database: Database) -> list[str]:
    def look_up() -> list[str]:
        with database.reading() as opened:
            return list(opened.scalars(select(Account.name).order_by(Account.name)))

    return database.remembered("names", look_up)


def test_what_is_remembered_is_never_older_than_what_anybody_wrote(database: Database) -> None:
    other = Database(database._engine.url.render_as_string(hide_password=False))
    for number, writer in enumerate((other, database, other)):
        assert len(names(database)) == number
        add_account(writer, f"person {number}")
    assert len(names(database)) == 3
    other.close()


def test_an_answer_goes_by_what_was_written_before_it_until_it_writes_itself(database: Database) -> None:
    database.hold()
    assert names(database) == []
    with ThreadPoolExecutor() as others:
        others.submit(add_account, database, "first").result()
        assert others.submit(names, database).result() == ["first"]
    assert names(database) == []
    add_account(database, "second")
    assert names(database) == ["first", "second"]


def test_sqlite_is_asked_again_only_after_a_write(tmp_path: Path) -> None:
    database = Database(f"sqlite:///{tmp_path / 'shoal.sqlite3'}")
    database.upgrade()
    first = names(database)
    assert names(database) is first
    add_account(database, "someone")
    assert names(database) == ["someone"]
    database.close()


@pytest.mark.parametrize("address", ["nonsense", "mysql://someone:hush-hush@host/name", "oracle+none://hush-hush"])
def test_an_address_of_no_known_database_is_refused_without_repeating_it(address: str) -> None:
    with pytest.raises(InputError, match="give sqlite:///FILE or postgresql://") as refused:
        Database(address)
    assert "hush-hush" not in str(refused.value)


def test_a_server_that_does_not_answer_is_a_message() -> None:
    database = Database("postgresql://someone:hush-hush@127.0.0.1:1/name")
    with pytest.raises(InputError, match="does not answer") as refused:
        database.upgrade()
    assert "hush-hush" not in str(refused.value)
    database.close()
