"""Which processes are alive, figures of runs, and indexes to count by."""

import sqlalchemy as sa
from alembic import op

from patchwright.workers.db.columns import AwareTime

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("jobs", sa.Column("queued_at", AwareTime()))
    op.add_column("jobs", sa.Column("started_at", AwareTime()))
    op.add_column("effects", sa.Column("planned_at", AwareTime()))
    _create_processes()
    _create_ended_runs()
    unfinished = sa.text("state <> 'done'")
    op.create_index(
        "ix_effects_unfinished",
        "effects",
        ["state", "planned_at"],
        sqlite_where=unfinished,
        postgresql_where=unfinished,
    )
    op.create_index(
        "ix_deliveries_received_at_service_verdict",
        "deliveries",
        ["received_at", "service", "verdict"],
    )


def _create_processes() -> None:
    op.create_table(
        "processes",
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("role", sa.String(), nullable=False),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("version", sa.String(), nullable=False),
        sa.Column("started_at", AwareTime(), nullable=False),
        sa.Column("seen_at", AwareTime(), nullable=False),
        sa.Column("until", AwareTime(), nullable=False),
        sa.Column("red", sa.String(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_processes"),
    )


def _create_ended_runs() -> None:
    op.create_table(
        "ended_runs",
        sa.Column("job_id", sa.String(), nullable=False),
        sa.Column("ended_at", AwareTime(), nullable=False),
        sa.Column("service", sa.String(), nullable=False),
        sa.Column("kind", sa.String(), nullable=False),
        sa.Column("outcome", sa.String(), nullable=False),
        sa.Column("proof", sa.String(), nullable=False),
        sa.Column("waited_s", sa.Float(), nullable=False),
        sa.Column("took_s", sa.Float(), nullable=False),
        sa.Column("cost_micro_usd", sa.BigInteger()),
        sa.Column("tokens_in", sa.Integer(), nullable=False),
        sa.Column("tokens_out", sa.Integer(), nullable=False),
        sa.Column("tokens_cached", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(["job_id"], ["jobs.id"], name="fk_ended_runs_job_id"),
        sa.PrimaryKeyConstraint("job_id", name="pk_ended_runs"),
    )
    op.create_index("ix_ended_runs_ended_at", "ended_runs", ["ended_at"])
