"""The tables of requests and runs; `tables_people` has those of people and money."""

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    Table,
    UniqueConstraint,
    false,
    text,
    true,
)

from patchwright.workers.db.columns import AwareTime, ShortText, LongText
from patchwright.workers.db.metadata import metadata

# `repo` is empty until it is known. `fence` counts the leases given out for the
# conversation's jobs: whoever holds an older one may no longer write.
conversations = Table(
    "conversations",
    metadata,
    Column("id", ShortText, primary_key=True),
    Column("repo", ShortText, nullable=False),
    Column("title", ShortText, nullable=False),
    Column("created_at", AwareTime, nullable=False),
    Column("fence", Integer, nullable=False, server_default=text("0")),
)

# `base_branch` is what our pull request there is meant for, null where none is ours;
# `head_branch` is the one that it comes from, null where that was not kept yet.
# `kind` is null for a thread beside the code that was linked before others could be.
# `told_at` is when the forge last told of it, by its own clock.
threads = Table(
    "threads",
    metadata,
    Column("key", ShortText, primary_key=True),
    Column("kind", ShortText),
    Column("conversation_id", ForeignKey("conversations.id"), nullable=False),
    Column("linked_at", AwareTime, nullable=False),
    Column("closed_at", AwareTime),
    Column("told_at", AwareTime),
    Column("base_branch", ShortText),
    Column("head_branch", ShortText),
    Column("lasting_key", ShortText),
    Column("audience", ShortText),
    Index("ix_threads_conversation_id", "conversation_id"),
    Index("ix_threads_lasting_key", "lasting_key"),
    Index("ix_threads_base_branch", "base_branch"),
)

# `submitted_at` is when the id was last handed to the queue, or null when it must be.
# `queued_at` is since when it waits for a worker, `started_at` when the first took it.
# `read_up_to` is the last event that the run took notice of. `kind` is the trigger's.
# `is_counted` says whether the thread's limit of runs counts it. `verify_at` is when
# its end is looked at again, since a worker that lost it may have written later.
# `delivery_attempts` counts the workers that took up its delivery from a lost one.
_IS_TO_VERIFY = text("verify_at IS NOT NULL")
jobs = Table(
    "jobs",
    metadata,
    Column("id", ShortText, primary_key=True),
    Column("conversation_id", ForeignKey("conversations.id"), nullable=False),
    Column("state", ShortText, nullable=False),
    Column("trigger", LongText, nullable=False),
    Column("kind", ShortText, nullable=False, server_default=text("'comment-mention'")),
    Column("is_counted", Boolean, nullable=False, server_default=true()),
    Column("created_at", AwareTime, nullable=False),
    Column("submitted_at", AwareTime),
    Column("queued_at", AwareTime),
    Column("started_at", AwareTime),
    Column("ended_at", AwareTime),
    Column("worker", ShortText),
    Column("lease_until", AwareTime),
    Column("attempts", Integer, nullable=False, server_default=text("0")),
    Column("read_up_to", Integer, nullable=False, server_default=text("0")),
    Column("outcome", LongText),
    Column("verify_at", AwareTime),
    Column("delivery_attempts", Integer, nullable=False, server_default=text("0")),
    Index("ix_jobs_state", "state"),
    Index(
        "ix_jobs_verify_at",
        "verify_at",
        sqlite_where=_IS_TO_VERIFY,
        postgresql_where=_IS_TO_VERIFY,
    ),
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
# `event_id` is the message it became when a run was already there for it to join, and
# `is_settled` says that the run has obeyed or answered it.
deliveries = Table(
    "deliveries",
    metadata,
    Column("id", ShortText, primary_key=True),
    Column("service", ShortText, nullable=False),
    Column("delivery_id", ShortText, nullable=False),
    Column("received_at", AwareTime, nullable=False),
    Column("headers", LongText, nullable=False),
    Column("body", LargeBinary, nullable=False),
    Column("verdict", ShortText, nullable=False),
    Column("reason", ShortText, nullable=False, server_default=text("''")),
    Column("trigger_key", ShortText),
    Column("trigger", LongText),
    Column("conversation_id", ForeignKey("conversations.id")),
    Column("job_id", ForeignKey("jobs.id")),
    Column("event_id", Integer),
    Column("is_settled", Boolean, nullable=False, server_default=false()),
    UniqueConstraint("service", "delivery_id"),
    UniqueConstraint("service", "trigger_key"),
    Index("ix_deliveries_job_id_event_id", "job_id", "event_id"),
    Index(
        "ix_deliveries_received_at_service_verdict", "received_at", "service", "verdict"
    ),
)

# Deliveries that a service says it could not bring, by its own id of them.
# `attempt_id` is its newest try, `source` the hook, `asked` how often we asked for it.
missed_deliveries = Table(
    "missed_deliveries",
    metadata,
    Column("service", ShortText, primary_key=True),
    Column("delivery_id", ShortText, primary_key=True),
    Column("source", ShortText, nullable=False),
    Column("attempt_id", BigInteger, nullable=False),
    Column("delivered_at", AwareTime, nullable=False),
    Column("asked", Integer, nullable=False, server_default=text("0")),
    Column("due_at", AwareTime, nullable=False),
    Index("ix_missed_deliveries_source_due_at", "source", "due_at"),
)

# How far each hook's list of deliveries was read.
hook_marks = Table(
    "hook_marks",
    metadata,
    Column("source", ShortText, primary_key=True),
    Column("read_up_to", AwareTime, nullable=False),
)

events = Table(
    "events",
    metadata,
    Column("conversation_id", ForeignKey("conversations.id"), primary_key=True),
    Column("id", Integer, primary_key=True, autoincrement=False),
    Column("at", AwareTime, nullable=False),
    Column("source", ShortText, nullable=False),
    Column("cause", Integer),
    Column("kind", ShortText, nullable=False),
    Column("payload", LongText, nullable=False),
    Index("ix_events_conversation_id_kind_id", "conversation_id", "kind", "id"),
)

_IS_UNFINISHED = text("state <> 'done'")
effects = Table(
    "effects",
    metadata,
    Column("key", ShortText, primary_key=True),
    Column("job_id", ForeignKey("jobs.id"), nullable=False),
    Column("position", Integer, nullable=False),
    Column("effect", LongText, nullable=False),
    Column("state", ShortText, nullable=False),
    Column("attempts", Integer, nullable=False, server_default=text("0")),
    Column("planned_at", AwareTime),
    Column("due_at", AwareTime, nullable=False),
    Column("receipt", LongText),
    Column("error", LongText),
    UniqueConstraint("job_id", "position"),
    Index(
        "ix_effects_unfinished",
        "state",
        "planned_at",
        sqlite_where=_IS_UNFINISHED,
        postgresql_where=_IS_UNFINISHED,
    ),
)

# What must survive the worker that made it, such as the bundle of commits.
artifacts = Table(
    "artifacts",
    metadata,
    Column("job_id", ForeignKey("jobs.id"), primary_key=True),
    Column("name", ShortText, primary_key=True),
    Column("data", LargeBinary, nullable=False),
)
