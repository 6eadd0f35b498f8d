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

from patchwright.workers.db.columns import AwareTime, ShortText
from patchwright.workers.db.metadata import metadata

accounts = Table(
    "accounts",
    metadata,
    Column("id", ShortText, primary_key=True),
    Column("name", ShortText, nullable=False),
    Column("created_at", AwareTime, nullable=False),
)

# `subject` is the service's own id of the person, or the login where it has none.
# `renew_after` is when their token may be renewed again after that failed `failures`
# times; `needs_reauth` says that it never will be, and `is_reported` that they know.
# Until `renewing_until` one process asks for a new one, and the others do not.
identities = Table(
    "identities",
    metadata,
    Column("id", ShortText, primary_key=True),
    Column("account_id", ForeignKey("accounts.id"), nullable=False),
    Column("service", ShortText, nullable=False),
    Column("host", ShortText, nullable=False),
    Column("subject", ShortText, nullable=False),
    Column("login", ShortText, nullable=False),
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
    Column("id", ShortText, primary_key=True),
    Column("at", AwareTime, nullable=False),
    Column("account_id", ShortText, nullable=False),
    Column("what", ShortText, nullable=False),
    Column("identity", ShortText, nullable=False),
    Column("by", ShortText, nullable=False),
    Index("ix_account_audit_account_id_at", "account_id", "at"),
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
