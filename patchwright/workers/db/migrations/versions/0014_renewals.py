"""Until when a process has the renewal of a person's token to itself."""

import sqlalchemy as sa
from alembic import op

from patchwright.workers.db.columns import AwareTime

revision = "0014"
down_revision = "0013"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("identities", sa.Column("renewing_until", AwareTime()))
