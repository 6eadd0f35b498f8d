"""What tries of an unknown price are taken to cost, for the ceilings of a day."""

import sqlalchemy as sa
from alembic import op

revision = "0010"
down_revision = "0009"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("reservations", sa.Column("assumed_micro_usd", sa.BigInteger()))
