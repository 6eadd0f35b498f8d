"""Requests to a run that it has obeyed or answered: no run of their own follows."""

import sqlalchemy as sa
from alembic import op

revision = "0015"
down_revision = "0014"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column(
        "deliveries",
        sa.Column(
            "is_settled", sa.Boolean(), server_default=sa.false(), nullable=False
        ),
    )
