"""The tables of people, secrets and money."""

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
)

from patchwright.workers.db.columns import AwareTime, String
from patchwright.workers.db.metadata import metadata

accounts = Table(
    "accounts",
    metadata,
    Column("id", String, primary_key=True),
    Column("name", String, nullable=False),
    Column("created_at", AwareTime, nullable=False),
)

# `subject` is the service's own id of the person, or the login where it has none.
# `renew_after` is when their token may be renewed again after that failed `failures`
# times; `needs_reauth` says that it never will be, and `is_reported` that they know.
# Until `renewing_until` one process asks for a new one, and the others do not.
identities = Table(
    "identities",
    metadata,
    Column("id", String, primary_key=True),
    Column("account_id", ForeignKey("accounts.id"), nullable=False),
    Column("service", String, nullable=False),
    Column("host", String, nullable=False),
    Column("subject", String, nullable=False),
    Column("login", String, nullable=False),
    Column("renew_after", AwareTime),
    Column("renewing_until", AwareTime),
    Column("failures", Integer, nullable=False, server_default=text("0")),
    Column("needs_reauth", Boolean, nullable=False, server_default=false()),
    Column("is_reported", Boolean, nullable=False, server_default=false()),
    UniqueConstraint("service", "host", "subject"),
    Index("ix_identities_account_id", "account_id"),
)

# What became of whose identity, and who did it; `identity` and `by` are as
# `store/accounts.py` writes them.
account_audit = Table(
    "account_audit",
    metadata,
    Column("id", String, primary_key=True),
    Column("at", AwareTime, nullable=False),
    Column("account_id", String, nullable=False),
    Column("what", String, nullable=False),
    Column("identity", String, nullable=False),
    Column("by", String, nullable=False),
    Index("ix_account_audit_account_id_at", "account_id", "at"),
)

# The one invitation of an identity that counts. `digest`, `browser` and `state` are
# digests of what only the person, their browser and the forge were told.
# `person_subject` is who they proved to be on the forge.
link_requests = Table(
    "link_requests",
    metadata,
    Column("service", String, primary_key=True),
    Column("host", String, primary_key=True),
    Column("subject", String, primary_key=True),
    Column("login", String, nullable=False),
    Column("digest", String, nullable=False),
    Column("expires_at", AwareTime, nullable=False),
    Column("hour_from", AwareTime, nullable=False),
    Column("in_hour", Integer, nullable=False),
    Column("browser", String),
    Column("state", String),
    Column("state_until", AwareTime),
    Column("person_service", String),
    Column("person_subject", String),
    Column("person_login", String),
    Column("used_at", AwareTime),
    UniqueConstraint("digest"),
)

secrets = Table(
    "secrets",
    metadata,
    Column("owner", String, primary_key=True),
    Column("name", String, primary_key=True),
    Column("key_id", String, nullable=False),
    Column("wrapped_key", LargeBinary, nullable=False),
    Column("ciphertext", LargeBinary, nullable=False),
    Column("stored_at", AwareTime, nullable=False),
    Column("expires_at", AwareTime),
)

# Amounts are whole millionths of a dollar, so that sums are exact.
reservations = Table(
    "reservations",
    metadata,
    Column("id", String, primary_key=True),
    Column("job_id", ForeignKey("jobs.id"), nullable=False),
    Column("account_id", String, nullable=False),
    Column("repo", String, nullable=False),
    Column("day", String, nullable=False),
    Column("reserved_micro_usd", BigInteger, nullable=False),
    Column("settled_micro_usd", BigInteger),
    Column("assumed_micro_usd", BigInteger),
    Index("ix_reservations_job_id", "job_id"),
    Index("ix_reservations_day", "day", "repo", "account_id"),
)
