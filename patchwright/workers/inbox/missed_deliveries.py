"""Find deliveries that did not arrive, and have them sent again."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

import structlog
from sqlalchemy import ColumnElement, Connection, delete, exists, or_, select, update

from patchwright.core.plugin import DeliveryAttempt, Hook
from patchwright.core.system.clock import Clock
from patchwright.core.types.base import Value
from patchwright.core.types.errors import NotFoundError, ServiceError
from patchwright.workers.db.database import Database, insert_once, insert_or_replace
from patchwright.workers.db.tables import deliveries, hook_marks, missed_deliveries


class ReadPositions:
    def __init__(self, database: Database) -> None:
        self._database = database

    def read_up_to(self, source: str) -> datetime | None:
        query = select(hook_marks.c.read_up_to).where(hook_marks.c.source == source)
        with self._database.reading() as connection:
            return connection.scalars(query).one_or_none()

    def put(self, source: str, read_up_to: datetime) -> None:
        row = {"source": source, "read_up_to": read_up_to}
        with self._database.writing() as connection:
            insert_or_replace(connection, hook_marks, row)


# No service lists a delivery for longer.
KEPT_FOR: Final = timedelta(days=3)
# Ever later: the first day is well covered, whatever keeps us from being reached.
MAX_ASKED: Final = 8
FIRST_WAIT: Final = timedelta(minutes=5)

_HAS_COME: Final = exists().where(
    deliveries.c.service == missed_deliveries.c.service,
    deliveries.c.delivery_id == missed_deliveries.c.delivery_id,
)


class MissedDelivery(Value):
    """A delivery to ask for; `asked` counts how often that was done."""

    delivery_id: str
    attempt_id: int
    asked: int


class MissedDeliveryStore:
    """What is missing of one service; a `source` is one of its hooks."""

    def __init__(self, database: Database, service: str) -> None:
        self._database, self._service = database, service

    def read_up_to(self, source: str) -> datetime | None:
        query = select(hook_marks.c.read_up_to).where(hook_marks.c.source == source)
        with self._database.reading() as connection:
            return connection.scalars(query).one_or_none()

    def note(self, source: str, failed: Iterable[DeliveryAttempt]) -> None:
        """Keep which attempts failed, newest first, and how far that was read."""
        newest = {one.guid: one for one in reversed(list(failed))}
        with self._database.writing() as connection:
            now = self._database.now(connection)
            for attempt in newest.values():
                self._keep(connection, source, attempt, now)
            if newest:
                mark = max(one.delivered_at for one in newest.values())
                row = {"source": source, "read_up_to": mark}
                insert_or_replace(connection, hook_marks, row)

    def take_due(self, source: str) -> tuple[MissedDelivery, ...]:
        """Return the deliveries to request now, without arrived and old ones."""
        query = (
            select(
                missed_deliveries.c.delivery_id,
                missed_deliveries.c.attempt_id,
                missed_deliveries.c.asked,
            )
            .where(
                missed_deliveries.c.source == source,
                missed_deliveries.c.asked < MAX_ASKED,
            )
            .order_by(missed_deliveries.c.delivered_at)
        )
        with self._database.writing() as connection:
            now = self._database.now(connection)
            is_over = or_(_HAS_COME, missed_deliveries.c.delivered_at < now - KEPT_FOR)
            connection.execute(delete(missed_deliveries).where(is_over))
            due = query.where(missed_deliveries.c.due_at <= now)
            rows = connection.execute(due).mappings()
            return tuple(MissedDelivery.model_validate(dict(row)) for row in rows)

    def mark_asked(self, missed: MissedDelivery) -> None:
        asked = missed.asked + 1
        with self._database.writing() as connection:
            due_at = self._database.now(connection) + FIRST_WAIT * 2**missed.asked
            connection.execute(
                update(missed_deliveries)
                .where(self._is(missed.delivery_id))
                .values(asked=asked, due_at=due_at)
            )

    def _keep(
        self,
        connection: Connection,
        source: str,
        attempt: DeliveryAttempt,
        now: datetime,
    ) -> None:
        row = {
            "service": self._service,
            "delivery_id": attempt.guid,
            "source": source,
            "attempt_id": attempt.id,
            "delivered_at": attempt.delivered_at,
            "due_at": now,
        }
        if not insert_once(connection, missed_deliveries, row):
            connection.execute(
                update(missed_deliveries)
                .where(self._is(attempt.guid))
                # With its time, because it is stored for as long as GitHub lists it.
                .values(attempt_id=attempt.id, delivered_at=attempt.delivered_at)
            )

    def _is(self, delivery_id: str) -> ColumnElement[bool]:
        return (missed_deliveries.c.service == self._service) & (
            missed_deliveries.c.delivery_id == delivery_id
        )


# An attempt is listed when it is over, which may be after one that began later.
REDELIVERY_OVERLAP: Final = timedelta(minutes=1)

log = structlog.get_logger(__name__)


@dataclass(frozen=True)
class CatchUp:
    """Called now and then, in any process; the sender is asked, and sends by itself.

    What comes twice of it is known for what it is by the intake.
    """

    find_hooks: Callable[[], Iterable[Hook]]
    missed: MissedDeliveryStore
    clock: Clock

    def __call__(self) -> None:
        try:
            for hook in self.find_hooks():
                self._look(hook)
        except ServiceError as error:
            log.warning("not_caught_up", reason=error.reason, error=str(error))

    def _look(self, hook: Hook) -> None:
        read_up_to = self.missed.read_up_to(hook.path)
        # What is older is given up: read once more, it would be as good as new.
        oldest = self.clock.now() - KEPT_FOR
        since = max(read_up_to - REDELIVERY_OVERLAP, oldest) if read_up_to else oldest
        self.missed.note(hook.path, hook.list_failed(since))
        for missed in self.missed.take_due(hook.path):
            # Counted first: it is one of the few tries, even if it fails.
            self.missed.mark_asked(missed)
            log.info("asks_again", delivery=missed.delivery_id, times=missed.asked + 1)
            try:
                hook.redeliver(missed.attempt_id)
            except NotFoundError:
                log.warning("delivery_is_gone", delivery=missed.delivery_id)
