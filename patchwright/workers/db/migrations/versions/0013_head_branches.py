"""The branch that a pull request of ours comes from: a status names nothing else."""

import sqlalchemy as sa
from alembic import op

from patchwright.workers.db.columns import ShortText

revision = "0013"
down_revision = "0012"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("threads", sa.Column("head_branch", ShortText()))
