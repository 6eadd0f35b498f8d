"""Links that open runs, each of which can be taken back.

Links from before have no row here, so they open nothing any more.
"""

import sqlalchemy as sa
from alembic import op

from patchwright.workers.db.columns import AwareTime

revision = "0019"
down_revision = "0018"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "run_links",
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("job_id", sa.String(), nullable=False),
        sa.Column("made_by", sa.String(), nullable=False),
        sa.Column("maker", sa.String(), nullable=False),
        sa.Column("created_at", AwareTime(), nullable=False),
        sa.Column("expires_at", AwareTime(), nullable=False),
        sa.Column("revoked_at", AwareTime()),
        sa.ForeignKeyConstraint(["job_id"], ["jobs.id"], name="fk_run_links_job_id"),
        sa.PrimaryKeyConstraint("id", name="pk_run_links"),
    )
    op.create_index("ix_run_links_job_id", "run_links", ["job_id"])
