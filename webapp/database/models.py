"""Which tables are there? One class each; the migrations make them."""

from datetime import UTC, datetime
from typing import Any

from sqlalchemy import JSON, BigInteger, DateTime, Dialect, ForeignKey, Index, MetaData, String, Text, text
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column
from sqlalchemy.types import TypeDecorator

# The states of a job. The first two are of jobs that are not at their end; of a deleted one only the row is left.
QUEUED, RUNNING, DONE, FAILED, CANCELLED, INTERRUPTED, DELETED = STATES = (
    "queued", "running", "done", "failed", "cancelled", "interrupted", "deleted",
)  # fmt: skip
# The states of a release, which it goes through in this order. One that is withdrawn is gone for everybody, for good;
# of one that is deleted only the row is left, so that its id is never used again.
MADE, ACTIVE, RETIRED, WITHDRAWN, _ = RELEASE_STATES = ("made", "active", "retired", "withdrawn", DELETED)
# The kinds of job: a release of a whole log, the same on some of its users only, the reading of an uploaded log, the
# releases of every method at three levels, an evaluation of many settings, the index of an uploaded corpus, and the
# choice of the corpus and the log that are served, and the groups of people with tokens in a new release.
RUN, PREVIEW, READING, LEVELS, EVALUATION, INDEXING, SERVING, TOKENS = KINDS = (
    "run", "preview", "reading", "levels", "evaluation", "indexing", "serving", "tokens",
)  # fmt: skip


def now() -> datetime:
    return datetime.now(UTC)


class Moment(TypeDecorator[datetime]):
    """A time in UTC. SQLite forgets time zones, so they are put back when reading."""

    impl = DateTime(timezone=True)
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        return value.astimezone(UTC) if value else None

    def process_result_value(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        if value is None:
            return None
        return value.astimezone(UTC) if value.tzinfo else value.replace(tzinfo=UTC)


class Table(DeclarativeBase):
    metadata = MetaData(
        naming_convention={
            "ix": "ix_%(column_0_label)s", "uq": "uq_%(table_name)s_%(column_0_name)s",
            "fk": "fk_%(table_name)s_%(column_0_name)s_%(referred_table_name)s", "pk": "pk_%(table_name)s",
        }
    )  # fmt: skip
    type_annotation_map = {datetime: Moment, dict[str, Any]: JSON}


class Account(Table):
    """Somebody who may operate the server."""

    __tablename__ = "accounts"
    id: Mapped[int] = mapped_column(primary_key=True)
    name: Mapped[str] = mapped_column(String(64), unique=True)
    password: Mapped[str] = mapped_column(Text)  # salted and hashed
    must_change: Mapped[bool] = mapped_column(default=False)  # a one-time password
    expires_at: Mapped[datetime | None]  # of a one-time password
    role: Mapped[str] = mapped_column(String(16), default="operator")
    disabled: Mapped[bool] = mapped_column(default=False)
    created_at: Mapped[datetime] = mapped_column(default=now)


class Visit(Table):
    """A log-in that has not ended. The browser holds the token, the table only its hash."""

    __tablename__ = "visits"
    token: Mapped[str] = mapped_column(String(64), primary_key=True)
    account_id: Mapped[int] = mapped_column(ForeignKey("accounts.id", ondelete="CASCADE"), index=True)
    created_at: Mapped[datetime] = mapped_column(default=now)


class Attempt(Table):
    """A try to log in: one that failed, or is not decided yet, or that went well and makes its address known."""

    __tablename__ = "attempts"
    id: Mapped[int] = mapped_column(primary_key=True)
    address: Mapped[str] = mapped_column(String(64), index=True)  # hashed with the server's key
    account: Mapped[str] = mapped_column(String(64), default="", index=True)  # its name, hashed in the same way
    succeeded: Mapped[bool] = mapped_column(default=False)
    at: Mapped[datetime] = mapped_column(index=True)


class LogFile(Table):
    """A log that releases can be made of: the one being served, and uploaded ones."""

    __tablename__ = "logs"
    id: Mapped[int] = mapped_column(primary_key=True)
    name: Mapped[str] = mapped_column(String(200))
    source: Mapped[str] = mapped_column(Text)  # a path or a data set's name
    digest: Mapped[str] = mapped_column(String(64), unique=True)  # sha-256 of the content
    statistics: Mapped[dict[str, Any]]
    rejected: Mapped[int] = mapped_column(default=0)
    people: Mapped[str] = mapped_column(String(16), default="real")  # simulated, public or real
    created_at: Mapped[datetime] = mapped_column(default=now)

    @property
    def simulated(self) -> bool:
        return self.people == "simulated"


class Job(Table):
    """Work in a process of its own: what to do, how far it is, and how it ended."""

    __tablename__ = "jobs"
    id: Mapped[int] = mapped_column(primary_key=True)
    kind: Mapped[str] = mapped_column(String(16))
    state: Mapped[str] = mapped_column(String(16), default=QUEUED, index=True)
    task: Mapped[dict[str, Any]]  # what webapp.jobs.tasks made
    result: Mapped[dict[str, Any]] = mapped_column(default=dict)
    account: Mapped[str] = mapped_column(String(64), default="")
    step: Mapped[int] = mapped_column(default=0)
    steps: Mapped[int] = mapped_column(default=1)
    stage: Mapped[str] = mapped_column(String(200), default="")
    done: Mapped[int] = mapped_column(BigInteger, default=0)
    total: Mapped[int] = mapped_column(BigInteger, default=0)
    attempts: Mapped[int] = mapped_column(default=0)
    cancel: Mapped[bool] = mapped_column(default=False)
    error: Mapped[str] = mapped_column(Text, default="")
    host: Mapped[str] = mapped_column(String(200), default="")
    pid: Mapped[int] = mapped_column(default=0)
    birth: Mapped[str] = mapped_column(String(100), default="")  # tells the process from a later one with its number
    created_at: Mapped[datetime] = mapped_column(default=now)
    started_at: Mapped[datetime | None]
    stage_at: Mapped[datetime | None]  # when the current stage began
    seen_at: Mapped[datetime | None]  # the last sign of life
    finished_at: Mapped[datetime | None]


class Release(Table):
    """What a finished run made. Its files lie in the instance folder; only its state changes, and no row goes."""

    __tablename__ = "releases"
    __table_args__ = (
        Index(  # whatever happens at the same time, a log has one active release
            "uq_releases_active", "log_id", unique=True, sqlite_where=text("state = 'active'"),
            postgresql_where=text("state = 'active'"),
        ),
    )  # fmt: skip
    id: Mapped[str] = mapped_column(String(32), primary_key=True)
    job_id: Mapped[int] = mapped_column(ForeignKey("jobs.id"), unique=True)
    log_id: Mapped[int] = mapped_column(ForeignKey("logs.id"), index=True)
    method: Mapped[str] = mapped_column(String(100))
    params: Mapped[dict[str, Any]]
    title: Mapped[str] = mapped_column(Text)
    claim: Mapped[dict[str, Any]]
    measured: Mapped[dict[str, Any]]
    holds: Mapped[bool]
    counterexample: Mapped[str] = mapped_column(Text, default="")
    certificate: Mapped[dict[str, Any]]
    checked_at: Mapped[datetime]
    created_at: Mapped[datetime] = mapped_column(default=now)
    state: Mapped[str] = mapped_column(String(16), default=MADE, index=True)
    published_at: Mapped[datetime | None]  # since when everybody may know it; empty: never
    exposure: Mapped[dict[str, Any]] = mapped_column(default=dict)  # what it shows of few people, as counted when made
    seal: Mapped[str] = mapped_column(String(64), default="")  # sha-256 of its manifest, which has those of its files
    damaged: Mapped[str] = mapped_column(Text, default="")  # what is not as it was made; empty: nothing


class Activation(Table):
    """From here on, all searchers were served by this release. Rows are the history, and a stack to roll back by."""

    __tablename__ = "activations"
    id: Mapped[int] = mapped_column(primary_key=True)
    release_id: Mapped[str] = mapped_column(ForeignKey("releases.id"), index=True)
    account: Mapped[str] = mapped_column(String(64), default="")
    note: Mapped[str] = mapped_column(Text, default="")
    at: Mapped[datetime] = mapped_column(default=now)
    back_to: Mapped[int | None]  # of a way back: the activation that it leads back to


class Proposal(Table):
    """An activation that waits for a second operator."""

    __tablename__ = "proposals"
    release_id: Mapped[str] = mapped_column(ForeignKey("releases.id"), primary_key=True)
    account: Mapped[str] = mapped_column(String(64))
    note: Mapped[str] = mapped_column(Text)
    at: Mapped[datetime] = mapped_column(default=now)


class Option(Table):
    """What an operator set for the whole server."""

    __tablename__ = "options"
    name: Mapped[str] = mapped_column(String(64), primary_key=True)
    value: Mapped[dict[str, Any]]


class Event(Table):
    """Somebody did something that others may ask about later. Rows are only added."""

    __tablename__ = "events"
    id: Mapped[int] = mapped_column(primary_key=True)
    at: Mapped[datetime] = mapped_column(default=now, index=True)
    action: Mapped[str] = mapped_column(String(64))  # what was done, as `release.withdraw`
    account: Mapped[str] = mapped_column(String(64), default="")  # who; empty: the server by itself
    subject: Mapped[str] = mapped_column(String(200), default="", index=True)  # to what: the id of a release, a name
    details: Mapped[dict[str, Any]] = mapped_column(default=dict)


class Token(Table):
    """What lets a real person see the own group. The holder has its text, the table a hash of it, and of the person."""

    __tablename__ = "tokens"
    id: Mapped[int] = mapped_column(primary_key=True)
    digest: Mapped[str] = mapped_column(String(64), unique=True)
    person: Mapped[str] = mapped_column(String(64))  # hashed with the server's key
    log: Mapped[str] = mapped_column(String(64), index=True)  # sha-256 of the log that the person is of
    account: Mapped[str] = mapped_column(String(64), default="")  # who issued it
    note: Mapped[str] = mapped_column(String(200), default="")
    created_at: Mapped[datetime] = mapped_column(default=now)
    expires_at: Mapped[datetime]
    revoked_at: Mapped[datetime | None]


class TokenGroup(Table):
    """The pseudonyms that the person of a token has in a release: one, several, or none."""

    __tablename__ = "token_groups"
    token_id: Mapped[int] = mapped_column(ForeignKey("tokens.id", ondelete="CASCADE"), primary_key=True)
    release_id: Mapped[str] = mapped_column(ForeignKey("releases.id", ondelete="CASCADE"), primary_key=True)
    pseudonyms: Mapped[dict[str, Any]]
