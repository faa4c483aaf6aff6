"""What was looked up already, and has anything been written since? Every request asks once, of SQLite in microseconds.

SQLite counts what other connections commit, in this process or in another (PRAGMA data_version, compared on one
connection). Whatever that count has not moved past is as it was, so nothing that is withdrawn is answered once more.
PostgreSQL has no such count: there everything is looked up once for each answer.
"""

import sqlite3
from collections.abc import Callable, Hashable
from threading import Lock, local
from typing import Any, TypeVar
from urllib.parse import quote

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
