"""The state of threads, the cause of a job, and the deliveries that did not arrive."""

import sqlalchemy as sa
from alembic import op

from patchwright.workers.db.columns import AwareTime

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("threads", sa.Column("closed_at", AwareTime()))
    op.add_column("threads", sa.Column("base_branch", sa.String()))
    op.create_index("ix_threads_base_branch", "threads", ["base_branch"])
    _add_to_jobs()
    _create_missed_deliveries()


def _add_to_jobs() -> None:
    asked = sa.text("'comment-mention'")
    op.add_column(
        "jobs", sa.Column("kind", sa.String(), server_default=asked, nullable=False)
    )
    op.add_column(
        "jobs",
        sa.Column("is_counted", sa.Boolean(), server_default=sa.true(), nullable=False),
    )


def _create_missed_deliveries() -> None:
    op.create_table(
        "missed_deliveries",
        sa.Column("service", sa.String(), nullable=False),
        sa.Column("delivery_id", sa.String(), nullable=False),
        sa.Column("source", sa.String(), nullable=False),
        sa.Column("attempt_id", sa.BigInteger(), nullable=False),
        sa.Column("delivered_at", AwareTime(), nullable=False),
        sa.Column("asked", sa.Integer(), server_default=sa.text("0"), nullable=False),
        sa.Column("due_at", AwareTime(), nullable=False),
        sa.PrimaryKeyConstraint("service", "delivery_id", name="pk_missed_deliveries"),
    )
    op.create_index(
        "ix_missed_deliveries_source_due_at", "missed_deliveries", ["source", "due_at"]
    )
    op.create_table(
        "hook_marks",
        sa.Column("source", sa.String(), nullable=False),
        sa.Column("read_up_to", AwareTime(), nullable=False),
        sa.PrimaryKeyConstraint("source", name="pk_hook_marks"),
    )
