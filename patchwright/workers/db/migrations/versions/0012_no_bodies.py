"""Remove the bodies of deliveries: what was parsed is kept, without secrets."""

import sqlalchemy as sa
from alembic import op

revision = "0012"
down_revision = "0011"
branch_labels = None
depends_on = None


def upgrade() -> None:
    deliveries = sa.table("deliveries", sa.column("body", sa.LargeBinary))
    op.execute(sa.update(deliveries).values(body=b""))
