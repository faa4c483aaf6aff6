"""Which role has an account, may it log in, until when is its one-time password good; whose tries are counted?"""

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("accounts", sa.Column("expires_at", sa.DateTime(timezone=True), nullable=True))
    # Whoever had an account could do everything, and somebody must be able to give roles.
    op.add_column("accounts", sa.Column("role", sa.String(16), nullable=False, server_default="administrator"))
    op.add_column("accounts", sa.Column("disabled", sa.Boolean(), nullable=False, server_default=sa.false()))
    op.add_column("attempts", sa.Column("account", sa.String(64), nullable=False, server_default=""))
    op.add_column("attempts", sa.Column("succeeded", sa.Boolean(), nullable=False, server_default=sa.false()))
    op.create_index("ix_attempts_account", "attempts", ["account"])


def downgrade() -> None:
    op.drop_index("ix_attempts_account", "attempts")
    for table, column in (("attempts", "succeeded"), ("attempts", "account"), ("accounts", "disabled"),
                          ("accounts", "role"), ("accounts", "expires_at")):  # fmt: skip
        op.drop_column(table, column)
