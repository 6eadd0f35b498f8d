"""When the forge last reported a thread, so that older webhooks are recognised."""

import sqlalchemy as sa
from alembic import op

from patchwright.workers.db.columns import AwareTime

revision = "0011"
down_revision = "0010"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("threads", sa.Column("told_at", AwareTime()))
