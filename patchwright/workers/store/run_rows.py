"""Write the narrow rows by which runs are listed, where their jobs are written."""

import json
from datetime import datetime
from typing import Any, Final

import sqlalchemy as sa

from patchwright.core.events.actions import RaiseLimits
from patchwright.core.events.observations import RunStarted
from patchwright.core.types.base import ConversationId, JobId, Value
from patchwright.core.types.threads import RepoRef, listed_name
from patchwright.core.types.triggers import Trigger
from patchwright.core.types.work import Limits, Outcome
from patchwright.resolver.commands import makes_run
from patchwright.workers.db.tables import events, run_rows


def columns_of(trigger: Trigger) -> dict[str, object]:
    """Return what a request says of its run."""
    place = trigger.place
    return {
        "is_run": makes_run(trigger),
        "forge": place.forge if place else "",
        "repo": place.full_name if place else "",
        "source": trigger.thread.service,
        "thread": listed_name(trigger.thread),
        "is_private": trigger.thread.is_private,
        "requester": trigger.asker.login,
        "title": trigger.title,
    }


def insert_run_row(
    connection: sa.Connection,
    job_id: JobId,
    conversation_id: ConversationId,
    trigger: Trigger,
    now: datetime,
) -> None:
    row = {
        "job_id": job_id,
        "conversation_id": conversation_id,
        "created_at": now,
        **columns_of(trigger),
    }
    connection.execute(sa.insert(run_rows), row)


def change_run_row(connection: sa.Connection, job_id: JobId, trigger: Trigger) -> None:
    values = columns_of(trigger)
    if not trigger.title:
        del values["title"]
    ours = sa.update(run_rows).where(run_rows.c.job_id == job_id)
    connection.execute(ours.values(values))


def outcome_columns(outcome: Outcome) -> dict[str, object]:
    """Return what is listed of an outcome."""
    return {
        "outcome": outcome.kind,
        "reason": outcome.reason,
        "proof": outcome.proof,
        "steps": outcome.iterations,
        "usage": outcome.usage.model_dump_json(),
    }


def end_run_row(
    connection: sa.Connection,
    job_id: JobId,
    outcome: Outcome,
    conversation_id: ConversationId | None = None,
) -> None:
    """Note how a run ended, or why it waits.

    With the `conversation_id` its log is asked what the run might cost, and for a title
    where the request had none.
    """
    values = outcome_columns(outcome)
    begun = _begun(connection, job_id, conversation_id) if conversation_id else None
    if begun is not None:
        values["limits"] = begun.limits.model_dump_json()
        has_none = run_rows.c.title == sa.literal("")
        values["title"] = sa.case((has_none, begun.title), else_=run_rows.c.title)
    ours = sa.update(run_rows).where(run_rows.c.job_id == job_id)
    connection.execute(ours.values(values))


def move_run_rows(connection: sa.Connection, old: RepoRef, new: RepoRef) -> None:
    """Let the runs of a repository follow its new name."""
    theirs = (run_rows.c.forge == old.forge) & (run_rows.c.repo == old.full_name)
    connection.execute(
        sa.update(run_rows).where(theirs).values(forge=new.forge, repo=new.full_name)
    )


class _Begun(Value):
    """What the log says of a run that has begun; `limits` are those that hold now."""

    title: str
    limits: Limits


_STARTED: Final = RunStarted.model_fields["kind"].default
_RAISED: Final = RaiseLimits.model_fields["kind"].default


def _begun(
    connection: sa.Connection, job_id: JobId, conversation_id: ConversationId
) -> _Begun | None:
    query = (
        sa.select(events.c.kind, events.c.payload)
        .where(
            events.c.conversation_id == conversation_id,
            events.c.kind.in_((_STARTED, _RAISED)),
        )
        .order_by(events.c.id.desc())
    )
    raised: list[dict[str, Any]] = []
    for row in connection.execute(query):
        payload = json.loads(row.payload)
        if row.kind == _RAISED:
            raised.append(payload)
        elif payload["run_id"] != job_id:
            return None
        else:
            return _begun_of(RunStarted.model_validate(payload), raised)
    return None


def _begun_of(started: RunStarted, raised: list[dict[str, Any]]) -> _Begun:
    limits = started.limits
    more = [RaiseLimits.model_validate(one) for one in raised]
    return _Begun(
        title=started.task.title,
        limits=limits.replace(
            max_iterations=limits.max_iterations + sum(one.iterations for one in more),
            max_cost_usd=limits.max_cost_usd + sum(one.cost_usd for one in more),
        ),
    )
