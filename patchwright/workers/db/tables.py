"""The tables of requests and runs; `tables_people` has those of people and money."""

from sqlalchemy import (
    Column,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    String,
    Table,
    Text,
    UniqueConstraint,
    text,
)

from patchwright.workers.db.columns import AwareTime
from patchwright.workers.db.metadata import metadata

# `fence` counts the leases given out for the conversation's jobs: whoever holds an
# older one may no longer write.
conversations = Table(
    "conversations",
    metadata,
    Column("id", String, primary_key=True),
    Column("repo", String, nullable=False),
    Column("title", String, nullable=False),
    Column("created_at", AwareTime, nullable=False),
    Column("fence", Integer, nullable=False, server_default=text("0")),
)

threads = Table(
    "threads",
    metadata,
    Column("key", String, primary_key=True),
    Column("conversation_id", ForeignKey("conversations.id"), nullable=False),
    Column("linked_at", AwareTime, nullable=False),
    Index("ix_threads_conversation_id", "conversation_id"),
)

# `submitted_at` is when the id was last handed to the queue, or null when it must be.
# `read_up_to` is the last event that the run took notice of.
jobs = Table(
    "jobs",
    metadata,
    Column("id", String, primary_key=True),
    Column("conversation_id", ForeignKey("conversations.id"), nullable=False),
    Column("state", String, nullable=False),
    Column("trigger", Text, nullable=False),
    Column("created_at", AwareTime, nullable=False),
    Column("submitted_at", AwareTime),
    Column("ended_at", AwareTime),
    Column("worker", String),
    Column("lease_until", AwareTime),
    Column("attempts", Integer, nullable=False, server_default=text("0")),
    Column("read_up_to", Integer, nullable=False, server_default=text("0")),
    Column("outcome", Text),
    Index("ix_jobs_state", "state"),
    Index("ix_jobs_conversation_id_created_at", "conversation_id", "created_at"),
)

_IS_ACTIVE = text(
    "state IN ('received', 'queued', 'running', 'waiting-user', 'delivering')"
)
one_active_job = Index(
    "uq_jobs_one_active",
    jobs.c.conversation_id,
    unique=True,
    sqlite_where=_IS_ACTIVE,
    postgresql_where=_IS_ACTIVE,
)

# `trigger_key` is null unless this delivery is the first one to ask for that.
# `event_id` is the message it became when a run was already there for it to join.
deliveries = Table(
    "deliveries",
    metadata,
    Column("id", String, primary_key=True),
    Column("service", String, nullable=False),
    Column("delivery_id", String, nullable=False),
    Column("received_at", AwareTime, nullable=False),
    Column("headers", Text, nullable=False),
    Column("body", LargeBinary, nullable=False),
    Column("verdict", String, nullable=False),
    Column("reason", String, nullable=False, server_default=text("''")),
    Column("trigger_key", String),
    Column("trigger", Text),
    Column("conversation_id", ForeignKey("conversations.id")),
    Column("job_id", ForeignKey("jobs.id")),
    Column("event_id", Integer),
    UniqueConstraint("service", "delivery_id"),
    UniqueConstraint("service", "trigger_key"),
    Index("ix_deliveries_job_id_event_id", "job_id", "event_id"),
)

events = Table(
    "events",
    metadata,
    Column("conversation_id", ForeignKey("conversations.id"), primary_key=True),
    Column("id", Integer, primary_key=True, autoincrement=False),
    Column("at", AwareTime, nullable=False),
    Column("source", String, nullable=False),
    Column("cause", Integer),
    Column("kind", String, nullable=False),
    Column("payload", Text, nullable=False),
    Index("ix_events_conversation_id_kind_id", "conversation_id", "kind", "id"),
)

effects = Table(
    "effects",
    metadata,
    Column("key", String, primary_key=True),
    Column("job_id", ForeignKey("jobs.id"), nullable=False),
    Column("position", Integer, nullable=False),
    Column("effect", Text, nullable=False),
    Column("state", String, nullable=False),
    Column("attempts", Integer, nullable=False, server_default=text("0")),
    Column("due_at", AwareTime, nullable=False),
    Column("receipt", Text),
    Column("error", Text),
    UniqueConstraint("job_id", "position"),
)

# What must survive the worker that made it, such as the bundle of commits.
artifacts = Table(
    "artifacts",
    metadata,
    Column("job_id", ForeignKey("jobs.id"), primary_key=True),
    Column("name", String, primary_key=True),
    Column("data", LargeBinary, nullable=False),
)
