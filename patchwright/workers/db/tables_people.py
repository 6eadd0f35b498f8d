"""The tables of people, secrets and money."""

from sqlalchemy import (
    BigInteger,
    Column,
    ForeignKey,
    Index,
    LargeBinary,
    String,
    Table,
    UniqueConstraint,
)

from patchwright.workers.db.columns import AwareTime
from patchwright.workers.db.metadata import metadata

accounts = Table(
    "accounts",
    metadata,
    Column("id", String, primary_key=True),
    Column("name", String, nullable=False),
    Column("created_at", AwareTime, nullable=False),
)

# `subject` is the service's own id of the person, or the login where it has none.
identities = Table(
    "identities",
    metadata,
    Column("id", String, primary_key=True),
    Column("account_id", ForeignKey("accounts.id"), nullable=False),
    Column("service", String, nullable=False),
    Column("host", String, nullable=False),
    Column("subject", String, nullable=False),
    Column("login", String, nullable=False),
    UniqueConstraint("service", "host", "subject"),
    Index("ix_identities_account_id", "account_id"),
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
    Index("ix_reservations_job_id", "job_id"),
    Index("ix_reservations_day", "day", "repo", "account_id"),
)
