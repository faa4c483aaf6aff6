"""What do the tests stand on that keep something? A database of either kind, PostgreSQL's by a server of its own."""

import os
import pwd
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from functools import cache
from pathlib import Path
from typing import Any

import psycopg
import pytest

from shoal.webapp.database import Database

KINDS = ("sqlite", "postgresql")
NewDatabaseURL = Callable[..., str]


@pytest.fixture(scope="session")
def postgresql() -> Iterator[str]:
    """A real server on the loopback address; it refuses to be root, so it runs as its own user where we are root."""
    programs = max(Path("/usr/lib/postgresql").glob("*/bin"), key=lambda path: int(path.parent.name), default=None)
    initdb = str(programs / "initdb") if programs else shutil.which("initdb")
    assert initdb, "these tests need PostgreSQL: install the package postgresql"
    user = pwd.getpwnam("postgres") if os.getuid() == 0 else None
    as_user: dict[str, Any] = {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": []} if user else {}
    with tempfile.TemporaryDirectory(prefix="shoal-postgresql-") as folder:
        if user:
            os.chown(folder, user.pw_uid, user.pw_gid)
        make = [initdb, "-D", f"{folder}/data", "-U", "shoal", "-A", "trust", "--no-sync"]
        subprocess.run(make, check=True, capture_output=True, cwd=folder, **as_user)
        port = free_port()
        serve = [Path(initdb).with_name("postgres"), "-D", f"{folder}/data", "-p", str(port), "-k", folder, "-F"]
        with subprocess.Popen(serve, stderr=subprocess.DEVNULL, cwd=folder, **as_user) as process:
            try:
                url = f"postgresql://shoal@127.0.0.1:{port}"
                _wait_for(f"{url}/postgres", process)
                yield url
            finally:
                process.send_signal(signal.SIGQUIT)  # at once: nobody reads its files again
                process.wait(20)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _wait_for(url: str, process: "subprocess.Popen[bytes]") -> None:
    end = time.monotonic() + 120
    while time.monotonic() < end and process.poll() is None:
        try:
            psycopg.connect(url).close()
            return
        except psycopg.OperationalError:
            time.sleep(0.1)
    raise AssertionError("PostgreSQL did not start")


@pytest.fixture(scope="session")
def new_database_url(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> NewDatabaseURL:
    """The address of a new database of either kind: empty, or with its tables, which are made once and then copied."""
    count = iter(range(10**6))

    def make(kind: str, tables: bool = False) -> str:
        copied = with_tables(kind) if tables else ""
        if kind == "sqlite":
            file = tmp_path_factory.mktemp("database") / "shoal.sqlite3"
            if copied:
                shutil.copy(copied.removeprefix("sqlite:///"), file)
            return f"sqlite:///{file}"
        name, server = f"test{next(count)}", request.getfixturevalue("postgresql")
        with psycopg.connect(f"{server}/postgres", autocommit=True) as connection:
            connection.execute(f"CREATE DATABASE {name} TEMPLATE {copied.rpartition('/')[2] or 'template1'}".encode())
        return f"{server}/{name}"

    @cache
    def with_tables(kind: str) -> str:
        with closing(Database(url := make(kind))) as database:
            database.upgrade()
        return url

    return make


@pytest.fixture(params=KINDS)
def database(request: pytest.FixtureRequest, new_database_url: NewDatabaseURL) -> Iterator[Database]:
    """A database with its tables and nothing in them, of each kind in turn."""
    with closing(Database(new_database_url(request.param, tables=True))) as made:
        yield made
