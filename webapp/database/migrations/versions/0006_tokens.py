"""Which tokens were issued, and which group has the holder of each?"""

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "tokens",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("digest", sa.String(64), nullable=False),
        sa.Column("person", sa.String(64), nullable=False),
        sa.Column("log", sa.String(64), nullable=False),
        sa.Column("account", sa.String(64), nullable=False),
        sa.Column("note", sa.String(200), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("expires_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("revoked_at", sa.DateTime(timezone=True), nullable=True),
        sa.PrimaryKeyConstraint("id", name="pk_tokens"),
        sa.UniqueConstraint("digest", name="uq_tokens_digest"),
    )
    op.create_index("ix_tokens_log", "tokens", ["log"])
    op.create_table(
        "token_groups",
        sa.Column("token_id", sa.Integer(), nullable=False),
        sa.Column("release_id", sa.String(32), nullable=False),
        sa.Column("pseudonyms", sa.JSON(), nullable=False),
        sa.PrimaryKeyConstraint("token_id", "release_id", name="pk_token_groups"),
        sa.ForeignKeyConstraint(
            ["token_id"], ["tokens.id"], name="fk_token_groups_token_id_tokens", ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["release_id"], ["releases.id"], name="fk_token_groups_release_id_releases", ondelete="CASCADE"
        ),
    )


def downgrade() -> None:
    op.drop_table("token_groups")
    op.drop_table("tokens")
