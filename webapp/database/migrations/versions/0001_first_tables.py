"""Which tables does the first version have?"""

from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None

_TABLES = ("accounts", "visits", "logs", "jobs", "releases", "activations")


def upgrade() -> None:
    _accounts()
    _logs()
    _jobs()
    _releases()


def downgrade() -> None:
    for table in reversed(_TABLES):
        op.drop_table(table)


def _number(name: str, **more: Any) -> sa.Column[int]:
    return sa.Column(name, sa.Integer(), nullable=False, **more)


def _text(name: str, length: int | None = None) -> sa.Column[str]:
    return sa.Column(name, sa.String(length) if length else sa.Text(), nullable=False)


def _moment(name: str, nullable: bool = False) -> sa.Column[Any]:
    return sa.Column(name, sa.DateTime(timezone=True), nullable=nullable)


def _json(name: str) -> sa.Column[Any]:
    return sa.Column(name, sa.JSON(), nullable=False)


def _flag(name: str) -> sa.Column[bool]:
    return sa.Column(name, sa.Boolean(), nullable=False)


def _accounts() -> None:
    op.create_table(
        "accounts", _number("id"), _text("name", 64), _text("password"), _flag("must_change"), _moment("created_at"),
        sa.PrimaryKeyConstraint("id", name="pk_accounts"), sa.UniqueConstraint("name", name="uq_accounts_name"),
    )  # fmt: skip
    op.create_table(
        "visits", _text("token", 64), _number("account_id"), _moment("created_at"),
        sa.PrimaryKeyConstraint("token", name="pk_visits"),
        sa.ForeignKeyConstraint(
            ["account_id"], ["accounts.id"], name="fk_visits_account_id_accounts", ondelete="CASCADE"
        ),
    )  # fmt: skip
    op.create_index("ix_visits_account_id", "visits", ["account_id"])


def _logs() -> None:
    op.create_table(
        "logs", _number("id"), _text("name", 200), _text("source"), _text("digest", 64), _json("statistics"),
        _number("rejected"), _flag("simulated"), _moment("created_at"),
        sa.PrimaryKeyConstraint("id", name="pk_logs"), sa.UniqueConstraint("digest", name="uq_logs_digest"),
    )  # fmt: skip


def _jobs() -> None:
    op.create_table(
        "jobs", _number("id"), _text("kind", 16), _text("state", 16), _json("task"), _json("result"),
        _text("account", 64), _number("step"), _number("steps"), _text("stage", 200),
        sa.Column("done", sa.BigInteger(), nullable=False), sa.Column("total", sa.BigInteger(), nullable=False),
        _number("attempts"), _flag("cancel"), _text("error"), _text("host", 200), _number("pid"), _text("birth", 100),
        _moment("created_at"), _moment("started_at", True), _moment("stage_at", True), _moment("seen_at", True),
        _moment("finished_at", True), sa.PrimaryKeyConstraint("id", name="pk_jobs"),
    )  # fmt: skip
    op.create_index("ix_jobs_state", "jobs", ["state"])


def _releases() -> None:
    op.create_table(
        "releases", _text("id", 32), _number("job_id"), _number("log_id"), _text("method", 100), _json("params"),
        _text("title"), _json("claim"), _json("measured"), _flag("holds"), _text("counterexample"),
        _json("certificate"), _moment("checked_at"), _moment("created_at"),
        sa.PrimaryKeyConstraint("id", name="pk_releases"), sa.UniqueConstraint("job_id", name="uq_releases_job_id"),
        sa.ForeignKeyConstraint(["job_id"], ["jobs.id"], name="fk_releases_job_id_jobs"),
        sa.ForeignKeyConstraint(["log_id"], ["logs.id"], name="fk_releases_log_id_logs"),
    )  # fmt: skip
    op.create_index("ix_releases_log_id", "releases", ["log_id"])
    op.create_table(
        "activations", _number("id"), _text("release_id", 32), _text("account", 64), _text("note"), _moment("at"),
        sa.PrimaryKeyConstraint("id", name="pk_activations"),
        sa.ForeignKeyConstraint(["release_id"], ["releases.id"], name="fk_activations_release_id_releases"),
    )  # fmt: skip
    op.create_index("ix_activations_release_id", "activations", ["release_id"])
