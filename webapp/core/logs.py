"""Which logs can releases be made of? The one being served, and those that were uploaded."""

import os
import re
import secrets
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, Any

import numpy as np
from sqlalchemy import select

from shoal.corpus.errors import Conflict, InputError, NotFound
from shoal.corpus.logs import load_log, people_of
from shoal.corpus.progress import Progress, silent
from shoal.corpus.querylog import NO_TIME, PeopleKind, QueryLog
from shoal.webapp.database import Database, LogFile

REJECTED = "rejected.tsv"
_BLOCK = 1 << 20


def statistics(log: QueryLog) -> dict[str, Any]:
    """What can be said of a log without showing anything that somebody typed."""
    times = log.time[log.time != NO_TIME]
    days = (
        [datetime.fromtimestamp(int(t), UTC).date().isoformat() for t in (times.min(), times.max())]
        if len(times)
        else []
    )
    return {
        "users": len(log.users), "queries": len(log), "distinct_queries": len(log.queries),
        "clicks": len(log.click_event), "queries_per_user": round(len(log) / max(len(log.users), 1), 2),
        "median_queries_per_user": float(np.median(np.diff(log.start))) if len(log.users) else 0.0,
        "first_day": days[0] if days else "", "last_day": days[1] if days else "",
    }  # fmt: skip


@dataclass(frozen=True, eq=False)
class ServedLog:
    """The log that a server is over. One of real people is read only by whoever makes releases of it."""

    name: str
    source: str  # a path that means the same in a process started elsewhere
    people: PeopleKind
    digest: str
    entered: bool  # in the database, as the file is now
    read: Callable[[], QueryLog]


def served_log(
    database: Database, name_or_path: str, progress: Progress = silent, log: QueryLog | None = None
) -> ServedLog:
    """The log of that name or path, read unless it is given. One of real people that was entered already is not."""
    path = Path(name_or_path)
    source = str(path.resolve()) if path.is_file() else name_or_path
    people = people_of(name_or_path, progress)
    if people == "real" and (digest := _known_digest(database, source)):
        return ServedLog(path.name, source, people, digest, True, lambda: load_log(name_or_path)[0])
    known = load_log(name_or_path, progress=progress)[0] if log is None else log
    return ServedLog(path.name, source, people, known.digest(), False, lambda: known)


def _known_digest(database: Database, source: str) -> str | None:
    """That of the file as it was entered, if it was not touched since."""
    with database.reading() as session:
        known = session.scalars(select(LogFile).where(LogFile.source == source)).all()
    return next((log.digest for log in known if log.statistics.get("written") == _written(source)), None)


def _written(source: str) -> int | None:
    return Path(source).stat().st_mtime_ns if Path(source).exists() else None


def register_log(database: Database, log: QueryLog, name: str, source: str, rejected: int = 0) -> int:
    """The number of the log with this content; one that is known already is not entered twice."""
    digest = log.digest()
    told = {**statistics(log), "written": _written(source)}
    with database.writing() as session:
        known = session.scalar(select(LogFile).where(LogFile.digest == digest))
        if known is None:
            known = LogFile(
                name=name[:200], digest=digest, statistics=told, rejected=rejected, people=log.people, source=source
            )
            session.add(known)
            session.flush()
        known.people = log.people  # the heading may have been mended since
        if source != known.source and not (known.source and Path(known.source).exists()):
            known.source, known.rejected = source, rejected  # the file was moved, or deleted and is here again
        if source == known.source:
            known.statistics = told
        return known.id


def find_log(database: Database, digest: str) -> int | None:
    """The number of the log with this content, if it was entered."""
    with database.reading() as session:
        return session.scalar(select(LogFile.id).where(LogFile.digest == digest))


def get_log(database: Database, log_id: int) -> LogFile:
    found = database.find(LogFile, log_id)
    if found is None:
        raise NotFound("no such log: choose one from the list of data")
    return found


def list_logs(database: Database) -> list[LogFile]:
    with database.reading() as session:
        return list(session.scalars(select(LogFile).where(LogFile.source != "").order_by(LogFile.id)))


def read_registered(database: Database, log_id: int, progress: Progress) -> QueryLog:
    """The log, which must still be what it was."""
    known = get_log(database, log_id)
    if not known.source:
        raise Conflict(f"the log {known.name} was deleted: upload it again")
    log, _ = load_log(known.source, progress=progress)
    if log.digest() != known.digest:
        raise Conflict(f"the log {known.name} was changed since it was entered: upload it, or start the server, again")
    return log


def save_upload(instance: Path, name: str, stream: IO[bytes], kind: str = ".tsv") -> Path:
    """What was uploaded, in a folder of its own that only the server can read."""
    ending = f"{kind}.gz" if name.lower().endswith(".gz") else kind
    stem = re.sub(r"[^A-Za-z0-9._-]+", "-", Path(name).name)[:60].strip("-.") or "log"
    folder = instance / "uploads" / f"{datetime.now(UTC):%Y%m%d-%H%M%S}-{secrets.token_hex(4)}"
    folder.mkdir(parents=True, mode=0o700)
    for known in (".gz", ".tsv", ".txt", ".jsonl", ".json"):
        stem = stem.removesuffix(known)
    path = folder / f"{stem or 'upload'}{ending}"
    try:
        with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            while block := stream.read(_BLOCK):
                file.write(block)
    except BaseException as error:
        path.unlink(missing_ok=True)
        folder.rmdir()
        if not isinstance(error, OSError):
            raise
        raise InputError(
            f"the upload cannot be kept ({error.strerror}): free space on the server and try again"
        ) from error
    return path
