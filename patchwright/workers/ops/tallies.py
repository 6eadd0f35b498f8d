"""What is counted of runs, money and deliveries."""

from collections.abc import Sequence
from typing import Final

from sqlalchemy import ColumnElement, Select, case, func, select

from patchwright.workers.db.tables import deliveries
from patchwright.workers.db.tables_ops import ended_runs
from patchwright.workers.db.tables_people import reservations
from patchwright.workers.ops.catalogue import RUN_BUCKETS_S, WAIT_BUCKETS_S
from patchwright.workers.ops.tally import Tally, within, within_days

# Where the numbers of runs are in a row.
COUNT: Final = 0
TOKENS: Final = slice(1, 4)
TOOK: Final = slice(4, 5 + len(RUN_BUCKETS_S))
WAITED: Final = slice(TOOK.stop, TOOK.stop + 1 + len(WAIT_BUCKETS_S))


def tally_runs() -> Tally:
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
    return Tally(query, len(labels), within(table.ended_at))


def tally_money() -> Tally:
    """Add up what was spent, and what was set aside and not settled, in millionths."""
    table = reservations.c
    unsettled = case(
        (table.settled_micro_usd.is_(None), table.reserved_micro_usd), else_=0
    )
    query: Select[float, float] = select(
        func.sum(table.settled_micro_usd), func.sum(unsettled)
    )
    return Tally(query, 0, within_days(table.day))


def tally_deliveries() -> Tally:
    """Count deliveries by service and verdict."""
    table = deliveries.c
    labels = (table.service, table.verdict)
    query = select(*labels, func.count()).group_by(*labels)
    return Tally(query, len(labels), within(table.received_at))


def _histogram(
    column: ColumnElement[float], buckets: Sequence[float]
) -> list[ColumnElement[float]]:
    up_to = (func.sum(case((column <= bound, 1), else_=0)) for bound in buckets)
    return [func.sum(column), *up_to]
