"""The tables of what people agree on where no code lives."""

from sqlalchemy import (
    Column,
    Table,
)

from patchwright.workers.db.columns import AwareTime, ShortText
from patchwright.workers.db.metadata import metadata

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
