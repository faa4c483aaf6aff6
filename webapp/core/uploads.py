"""How does uploaded data go? Logs and corpora with all that lies beside them; what failed goes by itself."""

import shutil
import time
from pathlib import Path

from sqlalchemy import ColumnElement, delete, or_, select, update
from sqlalchemy.orm import Session

from shoal.corpus.errors import Conflict, NotFound
from shoal.webapp.core.audit import note
from shoal.webapp.database import Database, Job, LogFile
from shoal.webapp.database.models import (
    DELETED,
    DONE,
    INDEXING,
    INTERRUPTED,
    QUEUED,
    READING,
    RUNNING,
    Token,
    TokenGroup,
    now,
)

_AT_WORK = (QUEUED, RUNNING)
_UPLOADED = (READING, INDEXING)
_FORGOTTEN = 3600  # seconds after which a folder that no job names is what a killed upload left


def delete_log(database: Database, instance: Path, log_id: int, served: str, by: str = "") -> bool:
    """Forget a log: its file and its rejected rows are gone. False if the file is the host's, who deletes it there.

    The row stays without a source, since releases name it; they keep their assignment, and are deleted by themselves.
    The tokens of its people are taken back.
    """
    with database.writing() as session:
        log = session.get(LogFile, log_id, with_for_update=True) if 0 < log_id < 2**31 else None
        if log is None or not log.source:
            raise NotFound("no such log: choose one from the list of data")
        if log.digest == served:
            raise Conflict("this log is being served: serve another one first")
        source = log.source
        _refuse_while_used(session, or_(Job.task["log"].as_string() == str(log_id), _is(source, "log")), _is(source))
        log.source, log.statistics, log.rejected = "", {}, 0
        session.execute(update(Job).where(Job.kind == READING, _is(source)).values(state=DELETED))
        _revoke_tokens(session, log.digest)
        note(session, "log.delete", by, str(log_id), {"name": log.name, "sha256": log.digest})
    clean_uploads(database, instance)
    return not Path(source).exists()


def _revoke_tokens(session: Session, digest: str) -> None:
    """Of all people of a log; who has which pseudonym is forgotten."""
    theirs = select(Token.id).where(Token.log == digest)
    session.execute(delete(TokenGroup).where(TokenGroup.token_id.in_(theirs)))
    session.execute(update(Token).where(Token.log == digest, Token.revoked_at.is_(None)).values(revoked_at=now()))


def delete_corpus(database: Database, instance: Path, number: int, served: str, by: str = "") -> None:
    """Forget an uploaded corpus. Its index lies in the cache, which may be deleted at any time."""
    with database.writing() as session:
        job = session.get(Job, number, with_for_update=True) if 0 < number < 2**31 else None
        if job is None or job.kind != INDEXING or job.state == DELETED:
            raise NotFound("no such corpus: choose one from the list of data")
        if job.task["path"] == served:
            raise Conflict("this corpus is being served: serve another one first")
        if job.state in _AT_WORK:
            raise Conflict("this corpus is being read: cancel that first")
        _refuse_while_used(session, _is(job.task["path"], "corpus"))
        job.state = DELETED
        note(session, "corpus.delete", by, str(number), {"name": job.task["name"]})
    clean_uploads(database, instance)


def _is(source: str, name: str = "path") -> ColumnElement[bool]:
    return Job.task[name].as_string() == source


def _refuse_while_used(session: Session, *uses: ColumnElement[bool]) -> None:
    if session.scalar(select(Job.id).where(Job.state.in_(_AT_WORK), or_(*uses)).limit(1)) is not None:
        raise Conflict("a job is at work on it: cancel that, or wait for its end")


def clean_uploads(database: Database, instance: Path) -> None:
    """Take away the folders of uploads that failed, were cancelled, deleted or known already, or that nobody names."""
    uploads = (instance / "uploads").resolve()
    if not uploads.is_dir():
        return
    with database.reading() as session:
        kept = set(session.scalars(select(LogFile.source)))
        jobs = session.scalars(select(Job).where(Job.kind.in_(_UPLOADED))).all()
    waiting = (*_AT_WORK, INTERRUPTED)  # an interrupted reading can be tried again
    kept |= {job.task["path"] for job in jobs if job.state in waiting or (job.kind, job.state) == (INDEXING, DONE)}
    named = {Path(job.task["path"]).parent.name for job in jobs}
    staying = {Path(source).parent.name for source in kept if source and uploads in Path(source).resolve().parents}
    for folder in uploads.iterdir():
        if folder.name not in staying and (folder.name in named or _is_old(folder)):
            shutil.rmtree(folder, ignore_errors=True)


def _is_old(folder: Path) -> bool:
    try:
        return time.time() - folder.stat().st_mtime > _FORGOTTEN
    except FileNotFoundError:  # another process was first
        return False
