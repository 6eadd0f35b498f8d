"""The tables of what people agree on where no code lives."""

from sqlalchemy import (
    Column,
    Table,
)

from patchwright.workers.db.columns import AwareTime, String
from patchwright.workers.db.metadata import metadata

# What was chosen once and for all in a `scope`: a channel, a project, or an account.
choices = Table(
    "choices",
    metadata,
    Column("scope", String, primary_key=True),
    Column("name", String, primary_key=True),
    Column("value", String, nullable=False),
    Column("chosen_by", String, nullable=False),
    Column("chosen_at", AwareTime, nullable=False),
)
