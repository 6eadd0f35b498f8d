"""The tables of what operators look at: processes, and figures of runs."""

from sqlalchemy import (
    BigInteger,
    Column,
    Float,
    ForeignKey,
    Index,
    Integer,
    Table,
)

from patchwright.workers.db.columns import AwareTime, ShortText
from patchwright.workers.db.metadata import metadata

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
