"""Where does it stand in which state a release is, what it shows, who waits for whom, and what the operator set?"""

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None

_ACTIVE = sa.text("state = 'active'")


def upgrade() -> None:
    _releases()
    _activations()
    _logs()
    op.create_table(
        "proposals",
        sa.Column("release_id", sa.String(32), nullable=False),
        sa.Column("account", sa.String(64), nullable=False),
        sa.Column("note", sa.Text(), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("release_id", name="pk_proposals"),
        sa.ForeignKeyConstraint(["release_id"], ["releases.id"], name="fk_proposals_release_id_releases"),
    )
    op.create_table(
        "options",
        sa.Column("name", sa.String(64), nullable=False),
        sa.Column("value", sa.JSON(), nullable=False),
        sa.PrimaryKeyConstraint("name", name="pk_options"),
    )


def _releases() -> None:
    """What served last is active, what served before is retired, what was offered stays public."""
    added = {"state": (sa.String(16), "made"), "seal": (sa.String(64), ""), "damaged": (sa.Text(), "")}
    for name, (kind, before) in added.items():
        op.add_column("releases", sa.Column(name, kind, nullable=False, server_default=before))
    op.add_column("releases", sa.Column("exposure", sa.JSON(), nullable=False, server_default="{}"))
    op.add_column("releases", sa.Column("published_at", sa.DateTime(timezone=True), nullable=True))
    op.execute(
        "UPDATE releases SET state = 'retired',"
        " published_at = (SELECT min(at) FROM activations WHERE release_id = releases.id)"
        " WHERE id IN (SELECT release_id FROM activations)"
    )
    op.execute(
        "UPDATE releases SET state = 'active' WHERE id IN (SELECT release_id FROM activations WHERE id IN"
        " (SELECT max(a.id) FROM activations a JOIN releases r ON r.id = a.release_id GROUP BY r.log_id))"
    )
    _publish_offered()
    op.create_index("ix_releases_state", "releases", ["state"])
    op.create_index(
        "uq_releases_active", "releases", ["log_id"], unique=True, sqlite_where=_ACTIVE, postgresql_where=_ACTIVE
    )


def _publish_offered() -> None:
    op.execute(
        "UPDATE releases SET published_at = created_at WHERE published_at IS NULL AND holds"
        " AND job_id IN (SELECT id FROM jobs WHERE CAST(task AS TEXT) LIKE '%\"offered\"%')"
    )


def _activations() -> None:
    op.add_column("activations", sa.Column("back_to", sa.Integer(), nullable=True))


def _logs() -> None:
    op.add_column("logs", sa.Column("people", sa.String(16), nullable=False, server_default="real"))
    op.execute("UPDATE logs SET people = 'simulated' WHERE simulated")
    op.drop_column("logs", "simulated")


def downgrade() -> None:
    op.add_column("logs", sa.Column("simulated", sa.Boolean(), nullable=False, server_default=sa.false()))
    op.execute("UPDATE logs SET simulated = (people = 'simulated')")
    op.drop_column("logs", "people")
    op.drop_column("activations", "back_to")
    for index in ("uq_releases_active", "ix_releases_state"):
        op.drop_index(index, "releases")
    for column in ("published_at", "exposure", "damaged", "seal", "state"):
        op.drop_column("releases", column)
    op.drop_table("options")
    op.drop_table("proposals")
