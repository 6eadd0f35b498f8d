"""Narrow rows by which runs are listed, for the jobs that are there too."""

import json
from collections.abc import Iterator, Mapping
from typing import Any

import sqlalchemy as sa
from alembic import op

from patchwright.workers.db.columns import AwareTime, LongText, ShortText

revision = "0017"
down_revision = "0016"
branch_labels = None
depends_on = None

_ROWS_AT_ONCE = 500
_AUTOMATIC = ("checks", "conflict", "merged", "pushed")
_MARKS = {"merge-request": "!"}


def upgrade() -> None:
    rows = op.create_table(
        "run_rows",
        sa.Column("job_id", ShortText(), nullable=False),
        sa.Column("conversation_id", ShortText(), nullable=False),
        sa.Column("created_at", AwareTime(), nullable=False),
        sa.Column("is_run", sa.Boolean(), nullable=False),
        sa.Column("forge", ShortText(), nullable=False),
        sa.Column("repo", ShortText(), nullable=False),
        sa.Column("source", ShortText(), nullable=False),
        sa.Column("thread", ShortText(), nullable=False),
        sa.Column("is_private", sa.Boolean(), nullable=False),
        sa.Column("requester", ShortText(), nullable=False),
        sa.Column("title", ShortText(), nullable=False),
        sa.Column("outcome", ShortText(), nullable=False, server_default=""),
        sa.Column("reason", ShortText(), nullable=False, server_default=""),
        sa.Column("proof", ShortText(), nullable=False, server_default=""),
        sa.Column("steps", sa.Integer(), nullable=False, server_default="0"),
        sa.Column("usage", LongText()),
        sa.Column("limits", LongText()),
        sa.ForeignKeyConstraint(["job_id"], ["jobs.id"], name="fk_run_rows_job_id"),
        sa.PrimaryKeyConstraint("job_id", name="pk_run_rows"),
    )
    for found in _pages(op.get_bind()):
        op.bulk_insert(rows, found)
    keys = ["created_at", "job_id"]
    op.create_index("ix_run_rows_created_at_job_id", "run_rows", keys)
    for name in ("repo", "outcome", "requester"):
        op.create_index(
            f"ix_run_rows_{name}_created_at_job_id", "run_rows", [name, *keys]
        )


_jobs = sa.table(
    "jobs",
    sa.column("id", ShortText),
    sa.column("conversation_id", ShortText),
    sa.column("kind", ShortText),
    sa.column("trigger", LongText),
    sa.column("created_at", AwareTime),
    sa.column("outcome", LongText),
)
_events = sa.table(
    "events",
    sa.column("conversation_id", ShortText),
    sa.column("id", sa.Integer),
    sa.column("kind", ShortText),
    sa.column("payload", LongText),
)


def _pages(connection: sa.Connection) -> Iterator[list[dict[str, Any]]]:
    last = ""
    page = sa.select(_jobs).order_by(_jobs.c.id).limit(_ROWS_AT_ONCE)
    while jobs := connection.execute(page.where(_jobs.c.id > last)).all():
        rows = [_row(connection, job) for job in jobs]
        yield [row for row in rows if row is not None]
        last = jobs[-1].id


def _row(connection: sa.Connection, job: Any) -> dict[str, Any] | None:  # noqa: ANN401 - a row of an old table
    """Return the row of a job, None for one that says not even who asked, and where."""
    trigger = json.loads(job.trigger)
    if not trigger.keys() >= {"thread", "actor"}:
        return None
    outcome = json.loads(job.outcome) if job.outcome else {}
    thread = trigger["thread"]
    begun = _begun(connection, job) if outcome else {}
    place = thread.get("repo") or trigger.get("repo") or {}
    asker = trigger.get("person") or trigger["actor"]
    kind = outcome.get("kind", "")
    # A ready answer to a command: no run came of it.
    is_answer = kind == "answered" and not outcome.get("iterations")
    return {
        "job_id": job.id,
        "conversation_id": job.conversation_id,
        "created_at": job.created_at,
        "is_run": job.kind in _AUTOMATIC or not is_answer,
        "forge": place.get("forge", ""),
        "repo": place.get("full_name", ""),
        "source": thread.get("service") or place.get("forge", ""),
        "thread": _name_of(thread),
        "is_private": bool(thread.get("audience")) or "repo" not in thread,
        "requester": asker["login"],
        "title": trigger.get("title") or begun.get("title", ""),
        "outcome": kind,
        "reason": outcome.get("reason", ""),
        "proof": outcome.get("proof", "none") if outcome else "",
        "steps": outcome.get("iterations", 0),
        "usage": json.dumps(outcome["usage"]) if outcome.get("usage") else None,
        "limits": json.dumps(begun["limits"]) if "limits" in begun else None,
    }


def _name_of(thread: Mapping[str, Any]) -> str:
    kind = thread.get("kind", "issue")
    if kind == "request":
        return "the request"
    if "number" in thread:
        return f"{_MARKS.get(kind, '#')}{thread['number']}"
    if kind == "chat":
        return f"#{thread['place'].rpartition('/')[2]}"
    return str(thread["id"]) if kind == "ticket" else "the thread"


def _begun(connection: sa.Connection, job: Any) -> dict[str, Any]:  # noqa: ANN401 - a row of an old table
    """Return the title of the task and the limits, as they were raised."""
    query = (
        sa.select(_events.c.kind, _events.c.payload)
        .where(
            _events.c.conversation_id == job.conversation_id,
            _events.c.kind.in_(("run_started", "raise_limits")),
        )
        .order_by(_events.c.id.desc())
    )
    steps, cost_usd = 0, 0.0
    for kind, text in connection.execute(query):
        payload = json.loads(text)
        if kind == "raise_limits":
            steps += payload.get("iterations", 0)
            cost_usd += payload.get("cost_usd", 0.0)
            continue
        if payload.get("run_id") == job.id:
            limits = payload["limits"]
            limits["max_iterations"] = limits.get("max_iterations", 50) + steps
            limits["max_cost_usd"] = limits.get("max_cost_usd", 3.0) + cost_usd
            return {"title": payload["task"].get("title", ""), "limits": limits}
        # What was raised was a later run's.
        steps, cost_usd = 0, 0.0
    return {}
