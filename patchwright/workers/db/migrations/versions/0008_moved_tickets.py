"""Threads that are moved keep their conversation, and answers their readers."""

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("threads", sa.Column("lasting_key", sa.String()))
    op.add_column("threads", sa.Column("audience", sa.String()))
    op.create_index("ix_threads_lasting_key", "threads", ["lasting_key"])
