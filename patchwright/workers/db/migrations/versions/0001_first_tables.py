"""The first tables: requests, runs, people and money."""

import sqlalchemy as sa
from alembic import op

from patchwright.workers.db.columns import AwareTime

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None

_ACTIVE = sa.text(
    "state IN ('received', 'queued', 'running', 'waiting-user', 'delivering')"
)


def upgrade() -> None:
    _create_conversations()
    _create_jobs()
    _create_deliveries()
    _create_events()
    _create_effects()
    _create_people()
    _create_secrets()
    _create_reservations()


def _create_conversations() -> None:
    op.create_table(
        "conversations",
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("repo", sa.String(), nullable=False),
        sa.Column("title", sa.String(), nullable=False),
        sa.Column("created_at", AwareTime(), nullable=False),
        sa.Column("fence", sa.Integer(), server_default=sa.text("0"), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_conversations"),
    )
    op.create_table(
        "threads",
        sa.Column("key", sa.String(), nullable=False),
        sa.Column("conversation_id", sa.String(), nullable=False),
        sa.Column("linked_at", AwareTime(), nullable=False),
        _refers("threads", "conversation_id", "conversations.id"),
        sa.PrimaryKeyConstraint("key", name="pk_threads"),
    )
    op.create_index("ix_threads_conversation_id", "threads", ["conversation_id"])


def _create_jobs() -> None:
    op.create_table(
        "jobs",
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("conversation_id", sa.String(), nullable=False),
        sa.Column("state", sa.String(), nullable=False),
        sa.Column("trigger", sa.Text(), nullable=False),
        sa.Column("created_at", AwareTime(), nullable=False),
        sa.Column("submitted_at", AwareTime()),
        sa.Column("ended_at", AwareTime()),
        sa.Column("worker", sa.String()),
        sa.Column("lease_until", AwareTime()),
        _counter("attempts"),
        _counter("read_up_to"),
        sa.Column("outcome", sa.Text()),
        _refers("jobs", "conversation_id", "conversations.id"),
        sa.PrimaryKeyConstraint("id", name="pk_jobs"),
    )
    op.create_index("ix_jobs_state", "jobs", ["state"])
    op.create_index(
        "ix_jobs_conversation_id_created_at", "jobs", ["conversation_id", "created_at"]
    )
    op.create_index(
        "uq_jobs_one_active",
        "jobs",
        ["conversation_id"],
        unique=True,
        sqlite_where=_ACTIVE,
        postgresql_where=_ACTIVE,
    )


def _create_deliveries() -> None:
    op.create_table(
        "deliveries",
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("service", sa.String(), nullable=False),
        sa.Column("delivery_id", sa.String(), nullable=False),
        sa.Column("received_at", AwareTime(), nullable=False),
        sa.Column("headers", sa.Text(), nullable=False),
        sa.Column("body", sa.LargeBinary(), nullable=False),
        sa.Column("verdict", sa.String(), nullable=False),
        sa.Column("reason", sa.String(), server_default=sa.text("''"), nullable=False),
        sa.Column("trigger_key", sa.String()),
        sa.Column("trigger", sa.Text()),
        sa.Column("conversation_id", sa.String()),
        sa.Column("job_id", sa.String()),
        sa.Column("event_id", sa.Integer()),
        _refers("deliveries", "conversation_id", "conversations.id"),
        _refers("deliveries", "job_id", "jobs.id"),
        sa.PrimaryKeyConstraint("id", name="pk_deliveries"),
        _unique("deliveries", "service", "delivery_id"),
        _unique("deliveries", "service", "trigger_key"),
    )
    op.create_index(
        "ix_deliveries_job_id_event_id", "deliveries", ["job_id", "event_id"]
    )


def _create_events() -> None:
    op.create_table(
        "events",
        sa.Column("conversation_id", sa.String(), nullable=False),
        sa.Column("id", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("at", AwareTime(), nullable=False),
        sa.Column("source", sa.String(), nullable=False),
        sa.Column("cause", sa.Integer()),
        sa.Column("kind", sa.String(), nullable=False),
        sa.Column("payload", sa.Text(), nullable=False),
        _refers("events", "conversation_id", "conversations.id"),
        sa.PrimaryKeyConstraint("conversation_id", "id", name="pk_events"),
    )


def _create_effects() -> None:
    op.create_table(
        "effects",
        sa.Column("key", sa.String(), nullable=False),
        sa.Column("job_id", sa.String(), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("effect", sa.Text(), nullable=False),
        sa.Column("state", sa.String(), nullable=False),
        _counter("attempts"),
        sa.Column("due_at", AwareTime(), nullable=False),
        sa.Column("receipt", sa.Text()),
        sa.Column("error", sa.Text()),
        _refers("effects", "job_id", "jobs.id"),
        sa.PrimaryKeyConstraint("key", name="pk_effects"),
        _unique("effects", "job_id", "position"),
    )
    op.create_table(
        "artifacts",
        sa.Column("job_id", sa.String(), nullable=False),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("data", sa.LargeBinary(), nullable=False),
        _refers("artifacts", "job_id", "jobs.id"),
        sa.PrimaryKeyConstraint("job_id", "name", name="pk_artifacts"),
    )


def _create_people() -> None:
    op.create_table(
        "accounts",
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("created_at", AwareTime(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_accounts"),
    )
    op.create_table(
        "identities",
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("account_id", sa.String(), nullable=False),
        sa.Column("service", sa.String(), nullable=False),
        sa.Column("host", sa.String(), nullable=False),
        sa.Column("subject", sa.String(), nullable=False),
        sa.Column("login", sa.String(), nullable=False),
        _refers("identities", "account_id", "accounts.id"),
        sa.PrimaryKeyConstraint("id", name="pk_identities"),
        _unique("identities", "service", "host", "subject"),
    )
    op.create_index("ix_identities_account_id", "identities", ["account_id"])


def _create_secrets() -> None:
    op.create_table(
        "secrets",
        sa.Column("owner", sa.String(), nullable=False),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("key_id", sa.String(), nullable=False),
        sa.Column("wrapped_key", sa.LargeBinary(), nullable=False),
        sa.Column("ciphertext", sa.LargeBinary(), nullable=False),
        sa.Column("stored_at", AwareTime(), nullable=False),
        sa.Column("expires_at", AwareTime()),
        sa.PrimaryKeyConstraint("owner", "name", name="pk_secrets"),
    )


def _create_reservations() -> None:
    op.create_table(
        "reservations",
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("job_id", sa.String(), nullable=False),
        sa.Column("account_id", sa.String(), nullable=False),
        sa.Column("repo", sa.String(), nullable=False),
        sa.Column("day", sa.String(), nullable=False),
        sa.Column("reserved_micro_usd", sa.BigInteger(), nullable=False),
        sa.Column("settled_micro_usd", sa.BigInteger()),
        _refers("reservations", "job_id", "jobs.id"),
        sa.PrimaryKeyConstraint("id", name="pk_reservations"),
    )
    op.create_index("ix_reservations_job_id", "reservations", ["job_id"])
    op.create_index(
        "ix_reservations_day", "reservations", ["day", "repo", "account_id"]
    )


def _counter(name: str) -> sa.Column[int]:
    return sa.Column(name, sa.Integer(), server_default=sa.text("0"), nullable=False)


def _refers(table: str, column: str, target: str) -> sa.ForeignKeyConstraint:
    return sa.ForeignKeyConstraint([column], [target], name=f"fk_{table}_{column}")


def _unique(table: str, *columns: str) -> sa.UniqueConstraint:
    return sa.UniqueConstraint(*columns, name=f"uq_{table}_{'_'.join(columns)}")
