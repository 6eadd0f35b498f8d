"""Whose identities belong together: invitations, the audit, and renewed tokens."""

import sqlalchemy as sa
from alembic import op

from patchwright.workers.db.columns import AwareTime

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None


def upgrade() -> None:
    _add_to_identities()
    _create_account_audit()
    _create_link_requests()


def _add_to_identities() -> None:
    none, no = sa.text("0"), sa.false()
    op.add_column("identities", sa.Column("renew_after", AwareTime()))
    op.add_column(
        "identities",
        sa.Column("failures", sa.Integer(), server_default=none, nullable=False),
    )
    for name in ("needs_reauth", "is_reported"):
        op.add_column(
            "identities",
            sa.Column(name, sa.Boolean(), server_default=no, nullable=False),
        )


def _create_account_audit() -> None:
    op.create_table(
        "account_audit",
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("at", AwareTime(), nullable=False),
        sa.Column("account_id", sa.String(), nullable=False),
        sa.Column("what", sa.String(), nullable=False),
        sa.Column("identity", sa.String(), nullable=False),
        sa.Column("by", sa.String(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_account_audit"),
    )
    op.create_index(
        "ix_account_audit_account_id_at", "account_audit", ["account_id", "at"]
    )


def _create_link_requests() -> None:
    op.create_table(
        "link_requests",
        sa.Column("service", sa.String(), nullable=False),
        sa.Column("host", sa.String(), nullable=False),
        sa.Column("subject", sa.String(), nullable=False),
        sa.Column("login", sa.String(), nullable=False),
        sa.Column("digest", sa.String(), nullable=False),
        sa.Column("expires_at", AwareTime(), nullable=False),
        sa.Column("hour_from", AwareTime(), nullable=False),
        sa.Column("in_hour", sa.Integer(), nullable=False),
        sa.Column("browser", sa.String()),
        sa.Column("state", sa.String()),
        sa.Column("state_until", AwareTime()),
        sa.Column("person_service", sa.String()),
        sa.Column("person_subject", sa.String()),
        sa.Column("person_login", sa.String()),
        sa.Column("used_at", AwareTime()),
        sa.PrimaryKeyConstraint("service", "host", "subject", name="pk_link_requests"),
        sa.UniqueConstraint("digest", name="uq_link_requests_digest"),
    )
