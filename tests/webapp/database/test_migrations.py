"""Does a database of an older version keep what it holds, and get the states that its releases are in?"""

from contextlib import closing

import pytest
from alembic import command
from alembic.config import Config
from alembic.script import ScriptDirectory
from sqlalchemy import select, text

from shoal.webapp.core.releases import ActiveReleases
from shoal.webapp.database import MIGRATIONS, Database, LogFile, Release, newest_version
from tests.webapp.databases import NewDatabaseURL

BEFORE = "0004"  # the last version without states
DAY = "2026-01-0{} 00:00:00+00:00"


def put(database: Database, table: str, **values: object) -> None:
    """A row of a table as it was then."""
    names = ", ".join(values)
    with database.writing() as session:
        session.execute(text(f"INSERT INTO {table} ({names}) VALUES (:{', :'.join(values)})"), values)


def put_release(database: Database, number: int, task: str, holds: bool = True) -> None:
    day = DAY.format(number)
    put(
        database, "jobs", id=number, kind="run", state="done", task=task, result="{}", account="", step=5, steps=5,
        stage="", done=0, total=0, attempts=1, cancel=False, error="", host="", pid=0, birth="", created_at=day,
    )  # fmt: skip
    put(
        database, "releases", id=f"r{number}", job_id=number, log_id=1, method="random", params="{}", title="",
        claim="{}", measured="{}", holds=holds, counterexample="", certificate="{}", checked_at=day, created_at=day,
    )  # fmt: skip


@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
def test_releases_of_before_are_active_retired_offered_or_made(kind: str, new_database_url: NewDatabaseURL) -> None:
    database = Database(new_database_url(kind))
    database.upgrade(BEFORE)
    put(
        database, "logs", id=1, name="log", source="log.tsv", digest="d1", statistics="{}", rejected=0, simulated=True,
        created_at=DAY.format(1),
    )  # fmt: skip
    offered = '{"method": "random", "offered": "low"}'
    for number, task in enumerate(("{}", "{}", "{}", offered), start=1):
        put_release(database, number, task)
    put_release(database, 5, offered, holds=False)
    for number, release_id in enumerate(("r1", "r2", "r1"), start=1):
        put(database, "activations", id=number, release_id=release_id, account="", note="", at=DAY.format(number))
    database.upgrade()
    with database.reading() as session:
        rows = {row.id: (row.state, row.published_at is not None) for row in session.scalars(select(Release))}
        assert session.scalars(select(LogFile)).one().people == "simulated"
    assert rows == {
        "r1": ("active", True), "r2": ("retired", True), "r3": ("made", False), "r4": ("made", True),
        "r5": ("made", False),
    }  # fmt: skip
    assert ActiveReleases(database, None, "d1").current_id() == "r1"  # type: ignore[arg-type]
    database.close()


def test_the_newest_version_is_the_one_that_alembic_ends_at_and_is_not_migrated_again(
    new_database_url: NewDatabaseURL, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS))
    assert newest_version() == ScriptDirectory.from_config(config).get_current_head()
    with closing(Database(new_database_url("sqlite"))) as database:
        assert database.version() == ""
        database.upgrade()
        assert database.version() == newest_version()
        monkeypatch.setattr(command, "upgrade", lambda *_: pytest.fail("it was migrated again"))
        database.upgrade()
