"""Warnings that a daily ceiling is half, mostly or wholly used, each given once."""

import sqlalchemy as sa
from alembic import op

from patchwright.workers.db.columns import AwareTime

revision = "0018"
down_revision = "0017"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "spend_alerts",
        sa.Column("day", sa.String(), nullable=False),
        sa.Column("scope", sa.String(), nullable=False),
        sa.Column("subject", sa.String(), nullable=False),
        sa.Column("percent", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("taken_micro_usd", sa.BigInteger(), nullable=False),
        sa.Column("ceiling_micro_usd", sa.BigInteger(), nullable=False),
        sa.Column("noted_at", AwareTime(), nullable=False),
        sa.PrimaryKeyConstraint(
            "day", "scope", "subject", "percent", name="pk_spend_alerts"
        ),
    )
