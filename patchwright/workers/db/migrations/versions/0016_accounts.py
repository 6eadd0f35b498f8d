"""Roles, sessions, API tokens, and a readable audit."""

import sqlalchemy as sa
from alembic import op

from patchwright.workers.db.columns import AwareTime

revision = "0016"
down_revision = "0015"
branch_labels = None
depends_on = None


def upgrade() -> None:
    _add_to_accounts()
    _add_text("identities", "email", "")
    _add_text("account_audit", "detail", "")
    op.create_index("ix_account_audit_at", "account_audit", ["at"])
    _create_sessions()
    _create_api_tokens()
    op.create_table(
        "logout_tokens",
        sa.Column("digest", sa.String(), nullable=False),
        sa.Column("until", AwareTime(), nullable=False),
        sa.PrimaryKeyConstraint("digest", name="pk_logout_tokens"),
    )


def _add_text(table: str, column: str, default: str) -> None:
    words = sa.text(f"'{default}'")
    op.add_column(
        table, sa.Column(column, sa.String(), server_default=words, nullable=False)
    )


def _add_to_accounts() -> None:
    _add_text("accounts", "role", "member")
    _add_text("accounts", "role_from", "")
    op.add_column("accounts", sa.Column("signed_in_at", AwareTime()))
    # Who has linked an account was here.
    op.execute(
        "UPDATE accounts SET signed_in_at = created_at WHERE id IN (SELECT account_id "
        "FROM identities GROUP BY account_id HAVING count(*) > 1)"
    )


def _create_sessions() -> None:
    op.create_table(
        "sessions",
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("account_id", sa.String(), nullable=False),
        sa.Column("digest", sa.String(), nullable=False),
        sa.Column("old_digest", sa.String()),
        sa.Column("old_until", AwareTime()),
        sa.Column("service", sa.String(), nullable=False),
        sa.Column("provider_sid", sa.String(), nullable=False),
        sa.Column("browser", sa.String(), nullable=False),
        sa.Column("created_at", AwareTime(), nullable=False),
        sa.Column("renewed_at", AwareTime(), nullable=False),
        sa.Column("seen_at", AwareTime(), nullable=False),
        sa.Column("expires_at", AwareTime(), nullable=False),
        sa.ForeignKeyConstraint(
            ["account_id"], ["accounts.id"], name="fk_sessions_account_id"
        ),
        sa.PrimaryKeyConstraint("id", name="pk_sessions"),
        sa.UniqueConstraint("digest", name="uq_sessions_digest"),
    )
    for column in ("old_digest", "account_id", "provider_sid", "expires_at"):
        op.create_index(f"ix_sessions_{column}", "sessions", [column])


def _create_api_tokens() -> None:
    op.create_table(
        "api_tokens",
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("account_id", sa.String(), nullable=False),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("ending", sa.String(), nullable=False),
        sa.Column("digest", sa.String(), nullable=False),
        sa.Column("scope", sa.String(), nullable=False),
        sa.Column("created_at", AwareTime(), nullable=False),
        sa.Column("expires_at", AwareTime(), nullable=False),
        sa.Column("last_used_at", AwareTime()),
        sa.ForeignKeyConstraint(
            ["account_id"], ["accounts.id"], name="fk_api_tokens_account_id"
        ),
        sa.PrimaryKeyConstraint("id", name="pk_api_tokens"),
        sa.UniqueConstraint("digest", name="uq_api_tokens_digest"),
    )
    op.create_index("ix_api_tokens_account_id", "api_tokens", ["account_id"])
