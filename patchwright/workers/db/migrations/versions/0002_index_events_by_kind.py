"""Find the events of a kind without going through all the others."""

from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_index(
        "ix_events_conversation_id_kind_id",
        "events",
        ["conversation_id", "kind", "id"],
    )
