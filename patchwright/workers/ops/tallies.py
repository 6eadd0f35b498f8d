"""What is counted of runs, money and deliveries."""

from collections.abc import Sequence
from typing import Final

from sqlalchemy import ColumnElement, Select, case, func, select

from patchwright.workers.db.tables import deliveries
from patchwright.workers.db.tables_ops import ended_runs
from patchwright.workers.db.tables_people import reservations
from patchwright.workers.ops.catalogue import RUN_BUCKETS_S, WAIT_BUCKETS_S
from patchwright.workers.ops.tally import RunningTotals, moment_filter, day_filter

# Where the numbers of runs are in a row.
COUNT_COLUMN: Final = 0
TOKEN_COLUMNS: Final = slice(1, 4)
DURATION_COLUMNS: Final = slice(4, 5 + len(RUN_BUCKETS_S))
WAIT_COLUMNS: Final = slice(DURATION_COLUMNS.stop, DURATION_COLUMNS.stop + 1 + len(WAIT_BUCKETS_S))


def run_totals() -> RunningTotals:
    """Count runs by service, trigger, outcome and proof.

    The numbers are those runs, their tokens in, out and cached, and for what they took
    and waited first the seconds and then how many there are up to each bucket.
    """
    table = ended_runs.c
    labels = (table.service, table.kind, table.outcome, table.proof)
    query = select(
        *labels,
        func.count(),
        func.sum(table.tokens_in),
        func.sum(table.tokens_out),
        func.sum(table.tokens_cached),
        *_histogram(table.took_s, RUN_BUCKETS_S),
        *_histogram(table.waited_s, WAIT_BUCKETS_S),
    ).group_by(*labels)
    return RunningTotals(query, len(labels), moment_filter(table.ended_at))


def money_totals() -> RunningTotals:
    """Add up what was spent, and what was set aside and not settled, in millionths."""
    table = reservations.c
    unsettled = case(
        (table.settled_micro_usd.is_(None), table.reserved_micro_usd), else_=0
    )
    query: Select[float, float] = select(
        func.sum(table.settled_micro_usd), func.sum(unsettled)
    )
    return RunningTotals(query, 0, day_filter(table.day))


def delivery_totals() -> RunningTotals:
    """Count deliveries by service and verdict."""
    table = deliveries.c
    labels = (table.service, table.verdict)
    query = select(*labels, func.count()).group_by(*labels)
    return RunningTotals(query, len(labels), moment_filter(table.received_at))


def _histogram(
    column: ColumnElement[float], buckets: Sequence[float]
) -> list[ColumnElement[float]]:
    up_to = (func.sum(case((column <= bound, 1), else_=0)) for bound in buckets)
    return [func.sum(column), *up_to]
