"""When the last message of a job is checked again, and how often it was delivered."""

import sqlalchemy as sa
from alembic import op

from patchwright.workers.db.columns import AwareTime

revision = "0009"
down_revision = "0008"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("jobs", sa.Column("verify_at", AwareTime()))
    op.add_column(
        "jobs",
        sa.Column(
            "delivery_attempts", sa.Integer(), nullable=False, server_default="0"
        ),
    )
    is_to_verify = sa.text("verify_at IS NOT NULL")
    op.create_index(
        "ix_jobs_verify_at",
        "jobs",
        ["verify_at"],
        sqlite_where=is_to_verify,
        postgresql_where=is_to_verify,
    )
