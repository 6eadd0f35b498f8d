"""All tables of the service: requests and runs, people and money, processes."""

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    Float,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    Table,
    UniqueConstraint,
    false,
    text,
    true,
)

from patchwright.workers.db.columns import AwareTime, LongText, ShortText

metadata = MetaData(
    naming_convention={
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "fk": "fk_%(table_name)s_%(column_0_N_name)s",
        "pk": "pk_%(table_name)s",
    }
)


# `repo` is empty until it is known. `fence` counts the leases given out for the
# conversation's jobs: a holder of an older one may no longer write.
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


# What was chosen once and for all in a `scope`: a channel, a project, or an account.
choices = Table(
    "choices",
    metadata,
    Column("scope", ShortText, primary_key=True),
    Column("name", ShortText, primary_key=True),
    Column("value", ShortText, nullable=False),
    Column("chosen_by", ShortText, nullable=False),
    Column("chosen_at", AwareTime, nullable=False),
)


# `role_from` is empty for the role that everybody has, "provider" where the provider of
# their sign-in said so, else "person". `signed_in_at` is null for an account that was
# made for somebody who never came here.
accounts = Table(
    "accounts",
    metadata,
    Column("id", ShortText, primary_key=True),
    Column("name", ShortText, nullable=False),
    Column("created_at", AwareTime, nullable=False),
    Column("role", ShortText, nullable=False, server_default=text("'member'")),
    Column("role_from", ShortText, nullable=False, server_default=text("''")),
    Column("signed_in_at", AwareTime),
)

# `subject` is the service's own id of the person, or the login where it has none.
# `renew_after` is when their token may be renewed again after that failed `failures`
# times; `needs_reauth` says that it never will be, and `is_reported` that they know.
# Until `renewing_until` one process asks for a new one, and the others do not. `email`
# is one that the provider of a sign-in has verified.
identities = Table(
    "identities",
    metadata,
    Column("id", ShortText, primary_key=True),
    Column("account_id", ForeignKey("accounts.id"), nullable=False),
    Column("service", ShortText, nullable=False),
    Column("host", ShortText, nullable=False),
    Column("subject", ShortText, nullable=False),
    Column("login", ShortText, nullable=False),
    Column("email", ShortText, nullable=False, server_default=text("''")),
    Column("renew_after", AwareTime),
    Column("renewing_until", AwareTime),
    Column("failures", Integer, nullable=False, server_default=text("0")),
    Column("needs_reauth", Boolean, nullable=False, server_default=false()),
    Column("is_reported", Boolean, nullable=False, server_default=false()),
    UniqueConstraint("service", "host", "subject"),
    Index("ix_identities_account_id", "account_id"),
)

# Changes of accounts, and who made them; `identity` is what was changed, and it, `by`
# and `detail` are as `store/audit.py` writes them.
account_audit = Table(
    "account_audit",
    metadata,
    Column("id", ShortText, primary_key=True),
    Column("at", AwareTime, nullable=False),
    Column("account_id", ShortText, nullable=False),
    Column("what", ShortText, nullable=False),
    Column("identity", ShortText, nullable=False),
    Column("by", ShortText, nullable=False),
    Column("detail", ShortText, nullable=False, server_default=text("''")),
    Index("ix_account_audit_account_id_at", "account_id", "at"),
    Index("ix_account_audit_at", "at"),
)

# Browsers in which somebody is signed in, by digests of what their cookies hold. After
# a renewal the cookie before counts until `old_until`, which is null as long as nobody
# has shown the new one. `provider_sid` is the provider's own name for the session.
sessions = Table(
    "sessions",
    metadata,
    Column("id", ShortText, primary_key=True),
    Column("account_id", ForeignKey("accounts.id"), nullable=False),
    Column("digest", ShortText, nullable=False),
    Column("old_digest", ShortText),
    Column("old_until", AwareTime),
    Column("service", ShortText, nullable=False),
    Column("provider_sid", ShortText, nullable=False),
    Column("browser", ShortText, nullable=False),
    Column("created_at", AwareTime, nullable=False),
    Column("renewed_at", AwareTime, nullable=False),
    Column("seen_at", AwareTime, nullable=False),
    Column("expires_at", AwareTime, nullable=False),
    UniqueConstraint("digest"),
    Index("ix_sessions_old_digest", "old_digest"),
    Index("ix_sessions_account_id", "account_id"),
    Index("ix_sessions_provider_sid", "provider_sid"),
    Index("ix_sessions_expires_at", "expires_at"),
)

# Tokens for programs, by their digests; `ending` are the last characters, by which
# people tell theirs apart.
api_tokens = Table(
    "api_tokens",
    metadata,
    Column("id", ShortText, primary_key=True),
    Column("account_id", ForeignKey("accounts.id"), nullable=False),
    Column("name", ShortText, nullable=False),
    Column("ending", ShortText, nullable=False),
    Column("digest", ShortText, nullable=False),
    Column("scope", ShortText, nullable=False),
    Column("created_at", AwareTime, nullable=False),
    Column("expires_at", AwareTime, nullable=False),
    Column("last_used_at", AwareTime),
    UniqueConstraint("digest"),
    Index("ix_api_tokens_account_id", "account_id"),
)

# Links that open a run to everybody who has them; the links themselves are nowhere.
# `made_by` is a principal's key and `maker` their name then; both are empty for the one
# link of a run that the service puts into its own messages, whose id is the run's.
run_links = Table(
    "run_links",
    metadata,
    Column("id", ShortText, primary_key=True),
    Column("job_id", ForeignKey("jobs.id"), nullable=False),
    Column("made_by", ShortText, nullable=False),
    Column("maker", ShortText, nullable=False),
    Column("created_at", AwareTime, nullable=False),
    Column("expires_at", AwareTime, nullable=False),
    Column("revoked_at", AwareTime),
    Index("ix_run_links_job_id", "job_id"),
)

# Messages of a provider that somebody was signed out, which count once.
logout_tokens = Table(
    "logout_tokens",
    metadata,
    Column("digest", ShortText, primary_key=True),
    Column("until", AwareTime, nullable=False),
)

# The one invitation of an identity that counts. `digest`, `browser` and `state` are
# digests of what only the person, their browser and the forge were told.
# `person_subject` is who they proved to be on the forge.
link_requests = Table(
    "link_requests",
    metadata,
    Column("service", ShortText, primary_key=True),
    Column("host", ShortText, primary_key=True),
    Column("subject", ShortText, primary_key=True),
    Column("login", ShortText, nullable=False),
    Column("digest", ShortText, nullable=False),
    Column("expires_at", AwareTime, nullable=False),
    Column("hour_from", AwareTime, nullable=False),
    Column("in_hour", Integer, nullable=False),
    Column("browser", ShortText),
    Column("state", ShortText),
    Column("state_until", AwareTime),
    Column("person_service", ShortText),
    Column("person_subject", ShortText),
    Column("person_login", ShortText),
    Column("used_at", AwareTime),
    UniqueConstraint("digest"),
)

secrets_table = Table(
    "secrets",
    metadata,
    Column("owner", ShortText, primary_key=True),
    Column("name", ShortText, primary_key=True),
    Column("key_id", ShortText, nullable=False),
    Column("wrapped_key", LargeBinary, nullable=False),
    Column("ciphertext", LargeBinary, nullable=False),
    Column("stored_at", AwareTime, nullable=False),
    Column("expires_at", AwareTime),
)

# Amounts are whole millionths of a dollar, so that sums are exact.
reservations = Table(
    "reservations",
    metadata,
    Column("id", ShortText, primary_key=True),
    Column("job_id", ForeignKey("jobs.id"), nullable=False),
    Column("account_id", ShortText, nullable=False),
    Column("repo", ShortText, nullable=False),
    Column("day", ShortText, nullable=False),
    Column("reserved_micro_usd", BigInteger, nullable=False),
    Column("settled_micro_usd", BigInteger),
    Column("assumed_micro_usd", BigInteger),
    Index("ix_reservations_job_id", "job_id"),
    Index("ix_reservations_day", "day", "repo", "account_id"),
)

# Each warning that a ceiling of a day is used up to `percent`, so that it is given
# once. `subject` is the account or the repository, empty for everybody together.
spend_alerts = Table(
    "spend_alerts",
    metadata,
    Column("day", ShortText, primary_key=True),
    Column("scope", ShortText, primary_key=True),
    Column("subject", ShortText, primary_key=True),
    Column("percent", Integer, primary_key=True, autoincrement=False),
    Column("taken_micro_usd", BigInteger, nullable=False),
    Column("ceiling_micro_usd", BigInteger, nullable=False),
    Column("noted_at", AwareTime, nullable=False),
)


# A process counts as alive until `until`, unless it says something again before.
# `red` are the names of its parts that do not work, with spaces between them.
processes = Table(
    "processes",
    metadata,
    Column("id", ShortText, primary_key=True),
    Column("role", ShortText, nullable=False),
    Column("name", ShortText, nullable=False),
    Column("version", ShortText, nullable=False),
    Column("started_at", AwareTime, nullable=False),
    Column("seen_at", AwareTime, nullable=False),
    Column("until", AwareTime, nullable=False),
    Column("red", ShortText, nullable=False),
)

# One narrow row for each run that has ended, so that to count them is cheap.
# `waited_s` is from the request to the start; `cost_micro_usd` null where a price is
# unknown.
ended_runs = Table(
    "ended_runs",
    metadata,
    Column("job_id", ForeignKey("jobs.id"), primary_key=True),
    Column("ended_at", AwareTime, nullable=False),
    Column("service", ShortText, nullable=False),
    Column("kind", ShortText, nullable=False),
    Column("outcome", ShortText, nullable=False),
    Column("proof", ShortText, nullable=False),
    Column("waited_s", Float, nullable=False),
    Column("took_s", Float, nullable=False),
    Column("cost_micro_usd", BigInteger),
    Column("tokens_in", Integer, nullable=False),
    Column("tokens_out", Integer, nullable=False),
    Column("tokens_cached", Integer, nullable=False),
    Index("ix_ended_runs_ended_at", "ended_at"),
)

# One narrow row for each job, by which runs are listed; a job that only answered a
# command is not `is_run`. It is written where the job is: what asked for it, then how
# it ended or why it waits, empty before. `thread` is its name without the repository;
# whether other threads of the conversation are private is asked of `threads`. `usage`
# and `limits` are JSON.
run_rows = Table(
    "run_rows",
    metadata,
    Column("job_id", ForeignKey("jobs.id"), primary_key=True),
    Column("conversation_id", ShortText, nullable=False),
    Column("created_at", AwareTime, nullable=False),
    Column("is_run", Boolean, nullable=False),
    Column("forge", ShortText, nullable=False),
    Column("repo", ShortText, nullable=False),
    Column("source", ShortText, nullable=False),
    Column("thread", ShortText, nullable=False),
    Column("is_private", Boolean, nullable=False),
    Column("requester", ShortText, nullable=False),
    Column("title", ShortText, nullable=False),
    Column("outcome", ShortText, nullable=False, server_default=text("''")),
    Column("reason", ShortText, nullable=False, server_default=text("''")),
    Column("proof", ShortText, nullable=False, server_default=text("''")),
    Column("steps", Integer, nullable=False, server_default=text("0")),
    Column("usage", LongText),
    Column("limits", LongText),
    Index("ix_run_rows_created_at_job_id", "created_at", "job_id"),
    Index("ix_run_rows_repo_created_at_job_id", "repo", "created_at", "job_id"),
    Index("ix_run_rows_outcome_created_at_job_id", "outcome", "created_at", "job_id"),
    Index(
        "ix_run_rows_requester_created_at_job_id", "requester", "created_at", "job_id"
    ),
)
