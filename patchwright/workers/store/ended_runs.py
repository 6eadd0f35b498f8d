"""Note how a run ended, in the few figures that are counted."""

from datetime import datetime
from decimal import ROUND_CEILING, Decimal
from typing import Final

from sqlalchemy import Connection, select

from patchwright.core.types.ids import JobId
from patchwright.core.types.triggers import Trigger
from patchwright.core.types.work import Outcome
from patchwright.workers.db.tables import jobs
from patchwright.workers.db.tables_ops import ended_runs
from patchwright.workers.db.upsert import insert_once

_MICRO: Final = 1_000_000


def count_run(connection: Connection, job_id: JobId, now: datetime) -> None:
    """Count the run that ends now; one without an outcome was none."""
    query = select(
        jobs.c.trigger, jobs.c.outcome, jobs.c.created_at, jobs.c.started_at
    ).where(jobs.c.id == job_id)
    row = connection.execute(query).one()
    if row.outcome is None:
        return
    outcome = Outcome.model_validate_json(row.outcome)
    trigger = Trigger.model_validate_json(row.trigger)
    usage = outcome.usage
    figures = {
        "job_id": job_id,
        "ended_at": now,
        "service": trigger.thread.service,
        "kind": trigger.kind,
        "outcome": outcome.kind,
        "proof": outcome.proof,
        "waited_s": _waited_s(row.created_at, row.started_at),
        "took_s": outcome.seconds,
        "cost_micro_usd": _micro(usage.cost_usd),
        "tokens_in": usage.tokens_in,
        "tokens_out": usage.tokens_out,
        "tokens_cached": usage.tokens_cached,
    }
    insert_once(connection, ended_runs, figures)


def _waited_s(created_at: datetime, started_at: datetime | None) -> float:
    if started_at is None:
        return 0.0
    # Two machines' clocks: the later moment may seem to be the earlier one.
    return max(0.0, (started_at - created_at).total_seconds())


def _micro(usd: float | None) -> int | None:
    if usd is None:
        return None
    exact = Decimal(str(usd)) * _MICRO
    return int(exact.to_integral_value(ROUND_CEILING))
