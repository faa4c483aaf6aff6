"""What does the server remember, and how is it reached? Short transactions in SQLite with WAL or in PostgreSQL.

What was looked up already, and has anything been written since? Every request asks once, of SQLite in microseconds.

SQLite counts what other connections commit, in this process or in another (PRAGMA data_version, compared on one
connection). Whatever that count has not moved past is as it was, so nothing that is withdrawn is answered once more.
PostgreSQL has no such count: there everything is looked up once for each answer.
"""

import os
import sqlite3
import weakref
from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Lock, local
from time import monotonic, sleep
from typing import Any, TypeVar
from urllib.parse import quote

from sqlalchemy import Connection, Engine, Select, column, create_engine, event, inspect, select, table
from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError, DatabaseError, NoSuchModuleError, OperationalError, TimeoutError
from sqlalchemy.orm import Session

from shoal.corpus.errors import InputError, Unavailable
from shoal.webapp.database.models import (
    Account,
    Activation,
    Attempt,
    Event,
    Job,
    LogFile,
    Option,
    Proposal,
    Release,
    Table,
    Visit,
)

Found = TypeVar("Found")


class Remembered:
    """What was found in a database since the last write to it. What is kept is shared by threads: nobody changes it."""

    def __init__(self, path: str | None) -> None:
        self._path = path  # of a file of SQLite
        self.forget()

    def forget(self) -> None:
        """Begin anew: in a forked process, where a connection of its parent is of no use."""
        self._lock = Lock()
        self._connection: sqlite3.Connection | None = None
        self._count: int | None = None
        self._held = local()  # what each thread goes by until it lets go
        self._found: dict[Hashable, Any] = {}

    def hold(self) -> None:
        """Let this thread go by what is written now, as long as it works on one answer and writes nothing itself."""
        found = self._since_last_write()
        self._held.found = {} if found is None else found

    def let_go(self) -> None:
        self._held.found = None

    def get(self, key: Hashable, look_up: Callable[[], Found]) -> Found:
        """What was found under this key, or is found now; what a write overtakes meanwhile is not found again."""
        found: dict[Hashable, Any] | None = getattr(self._held, "found", None)
        if found is None:
            found = self._since_last_write()
        if found is None:
            return look_up()
        if key not in found:
            found[key] = look_up()
        here: Found = found[key]
        return here

    def _since_last_write(self) -> dict[Hashable, Any] | None:
        if self._path is None:
            return None
        with self._lock:
            count = self._writes()
            if count is None or count != self._count:
                self._count, self._found = count, {}
            return self._found if count is not None else None

    def _writes(self) -> int | None:
        """None where the file cannot be asked: whoever looks up next says what is wrong with it."""
        try:
            if self._connection is None:
                address = f"file:{quote(self._path or '')}?mode=rw"
                self._connection = sqlite3.connect(address, uri=True, check_same_thread=False, isolation_level=None)
            count: int = self._connection.execute("PRAGMA data_version").fetchone()[0]
        except sqlite3.Error:
            self._connection = None
            return None
        return count

    def close(self) -> None:
        with self._lock:
            if self._connection is not None:
                self._connection.close()
            self._connection = None


__all__ = [
    "Account", "Activation", "Attempt", "Database", "Event", "Job", "LogFile", "Option", "Proposal", "Release", "Visit",
]  # fmt: skip


MIGRATIONS = Path(__file__).parent / "migrations"
_VERSIONS = table("alembic_version", column("version_num"))  # alembic's own
_BUSY_SECONDS = 15
_RETRY_SECONDS = 0.02
_CONNECT_SECONDS = 5
_WRITES = "shoal_writes"
Row = TypeVar("Row", bound=Table)
Value = TypeVar("Value", int, str)


class Database:
    """Reads see one state; writes are whole or not at all. Both should be short: others wait for a write."""

    def __init__(self, url: str) -> None:
        self._engine = _engine(url)
        self._writing = self._engine.execution_options(**{_WRITES: True})
        self._remembered = Remembered(self._engine.url.database if self.kind == "sqlite" else None)
        # A connection must not be used on both sides of a fork.
        reference = weakref.ref(self)
        os.register_at_fork(after_in_child=lambda: _forget(reference()))

    @property
    def kind(self) -> str:
        return self._engine.dialect.name

    @contextmanager
    def reading(self) -> Iterator[Session]:
        with _told(), Session(self._engine, expire_on_commit=False) as session:
            yield session

    def find(self, table: type[Row], key: int | str) -> Row | None:
        """A row by its key; None also where the key is no number that a database could hold."""
        if isinstance(key, int) and not 0 < key < 2**31:
            return None
        with self.reading() as session:
            return session.get(table, key)

    def ask(self, question: Select[Value]) -> Value | None:
        """One value, by the shortest way: this is what every request of a searcher waits for."""
        with _told(), self._engine.connect() as connection:
            return connection.execute(question).scalar()

    def remembered(self, key: Hashable, look_up: Callable[[], Found]) -> Found:
        """What a look-up finds, or found since which nothing was written; not for what depends on the time."""
        return self._remembered.get(key, look_up)

    def hold(self) -> None:
        """From here on this thread is answered what is written now, until it lets go or writes; see `Remembered`."""
        self._remembered.hold()

    def let_go(self) -> None:
        self._remembered.let_go()

    @contextmanager
    def writing(self) -> Iterator[Session]:
        """A transaction: committed at the end of the block, undone when it is left by an error."""
        self._remembered.let_go()
        with _told(), Session(self._writing, expire_on_commit=False) as session, session.begin():
            yield session

    def upgrade(self, to: str = "head") -> None:
        """Bring the tables to what this version of the program expects, or an earlier one did."""
        if to == "head" and self.version() == newest_version():
            return
        from alembic import command  # here, since a process that finds the tables as they should be starts without it
        from alembic.config import Config

        config = Config()
        config.set_main_option("script_location", str(MIGRATIONS).replace("%", "%%"))
        with _told(), self._writing.connect() as connection:
            config.attributes["connection"] = connection
            command.upgrade(config, to)

    def version(self) -> str:
        """That of the tables, as the last migration left it; empty where there is none yet."""
        with _told(), self._engine.connect() as connection:
            if not inspect(connection).has_table(_VERSIONS.name):
                return ""
            return " ".join(connection.execute(select(_VERSIONS.c.version_num)).scalars())

    def check(self) -> None:
        """A file that is no database, or a broken one, is told before anything is written to it."""
        with _told(), self._engine.connect() as connection:
            if self.kind == "sqlite" and connection.exec_driver_sql("PRAGMA quick_check(1)").scalar() != "ok":
                raise Unavailable(_BROKEN)

    def numbers(self, table: type[Row]) -> set[int]:
        """The ids of all rows of a table; none where it was not made yet."""
        with _told(), self._engine.connect() as connection:
            if not inspect(connection).has_table(table.__tablename__):
                return set()
            return set(connection.execute(select(table.__table__.c.id)).scalars())

    def close(self) -> None:
        self._remembered.close()
        self._engine.dispose()


def newest_version() -> str:
    """The last of the migrations, which are counted in the names of their files."""
    return max(path.name for path in (MIGRATIONS / "versions").glob("[0-9]*.py")).partition("_")[0]


def _forget(database: "Database | None") -> None:
    if database is not None:
        database._remembered.forget()
        database._engine.dispose(close=False)


def _engine(text: str) -> Engine:
    url = _url(text)
    if url.get_backend_name() != "sqlite":
        return create_engine(
            url, pool_pre_ping=True, pool_size=4, max_overflow=16, connect_args={"connect_timeout": _CONNECT_SECONDS}
        )
    if url.database:
        Path(url.database).parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    engine = create_engine(url, connect_args={"timeout": _BUSY_SECONDS})
    event.listen(engine, "connect", _set_up_sqlite)
    event.listen(engine, "begin", _begin_sqlite)
    return engine


def _url(text: str) -> URL:
    try:
        url = make_url(text)
        if url.drivername in ("postgres", "postgresql"):
            url = url.set(drivername="postgresql+psycopg")
        url.get_dialect()
    except (ArgumentError, NoSuchModuleError) as error:
        # The address may hold a password, so it is not repeated.
        raise InputError(
            "the database address cannot be read: give sqlite:///FILE or postgresql://HOST/NAME"
        ) from error
    if url.get_backend_name() not in ("sqlite", "postgresql"):
        raise InputError(f"{url.get_backend_name()} is no database known here: give sqlite:///FILE or postgresql://...")
    return url


def _set_up_sqlite(connection: Any, record: Any) -> None:
    connection.isolation_level = None  # transactions are begun below, not by the driver
    cursor = connection.cursor()
    _keep_journal_ahead(cursor)
    for pragma in ("foreign_keys=ON", "synchronous=FULL"):
        cursor.execute(f"PRAGMA {pragma}")
    cursor.close()


def _keep_journal_ahead(cursor: sqlite3.Cursor) -> None:
    """The first that opens a file changes its journal; SQLite lets nobody else wait for that, so this tries again."""
    until = monotonic() + _BUSY_SECONDS
    while True:
        try:
            cursor.execute("PRAGMA journal_mode=WAL")
            return
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY or monotonic() > until:
                raise
            sleep(_RETRY_SECONDS)


def _begin_sqlite(connection: Connection) -> None:
    """A transaction that will write says so first: one that read before could only fail when it comes to writing."""
    writes = connection.get_execution_options().get(_WRITES)
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")


@contextmanager
def _told() -> Iterator[None]:
    """A database that cannot be reached, read or written is the operator's to mend, so it becomes a message.

    Where it is, and as whom it is asked, is nobody's business who only sees a page.
    """
    try:
        yield
    except (OperationalError, TimeoutError) as error:
        raise Unavailable(_reason(str(getattr(error, "orig", error)))) from error
    except DatabaseError as error:
        if any(words in str(error.orig) for words in ("malformed", "not a database")):
            raise Unavailable(_BROKEN) from error
        raise


_BROKEN = (
    "the database file is broken: stop the server, put the latest copy of the file in its place (with no -wal and -shm "
    "beside it), and start it again"
)


def _reason(text: str) -> str:
    if "locked" in text:
        return "the database is locked by another process: try again, and see which program holds it if this stays"
    if "full" in text or "No space" in text:
        return "the disk of the database is full: nothing was changed; free some space and try again"
    if "readonly" in text or "unable to open" in text:
        return "the database file cannot be written: check the owner and the permissions of the instance folder"
    return "the database does not answer: try again; the operator checks that it runs and that its address is right"
