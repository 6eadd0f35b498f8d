"""Look in Jira for requests that no delivery brought."""

from collections.abc import Callable, Iterable
from concurrent.futures import Future
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

import structlog

from patchwright.core.clock import Clock
from patchwright.core.errors import PayloadError, ServiceError
from patchwright.core.types.triggers import Trigger
from patchwright.integrations.jira.answers import JsonObject
from patchwright.integrations.jira.listening import SERVICE, JiraTriggerRules
from patchwright.integrations.jira.polling import find_requests
from patchwright.workers.intake.delivery import Delivery, InboxResult
from patchwright.workers.intake.errors import InboxUnavailableError
from patchwright.workers.store.hook_marks import ReadPositions

# The site's clock may differ from ours, and its index of tickets is some seconds late.
POLLING_OVERLAP: Final = timedelta(minutes=3)
# What is older is given up: nobody waits for it any more.
MAX_BACK: Final = timedelta(days=3)
STORED_WITHIN_S: Final = 60.0

log = structlog.get_logger(__name__)


@dataclass(frozen=True)
class JiraPolling:
    """Called now and then, where there is an intake; the first look starts at now.

    `search` yields the tickets that were changed since a moment, with comments and
    changelog, those first that changed first. What comes twice of it, or was delivered
    as well, is known for what it is by the intake.
    """

    listening: JiraTriggerRules
    search: Callable[[datetime], Iterable[JsonObject]]
    submit: Callable[[Delivery], Future[InboxResult]]
    marks: ReadPositions
    clock: Clock

    def __call__(self) -> None:
        now = self.clock.now()
        source = f"{SERVICE}:{self.listening.host}"
        read_up_to = self.marks.read_up_to(source)
        if read_up_to is not None:
            now = max(read_up_to, self._look(read_up_to, now))
        self.marks.put(source, now)

    def _look(self, read_up_to: datetime, now: datetime) -> datetime:
        """Bring what is new to the intake, and return up to when that was done."""
        since = max(read_up_to, now - MAX_BACK) - POLLING_OVERLAP
        try:
            for issue in self.search(since):
                updated = self._take_in(issue, since, now)
                read_up_to = min(updated or read_up_to, now)
        except (ServiceError, InboxUnavailableError) as error:
            log.warning("not_polled", reason=error.reason, error=str(error))
            return read_up_to
        except TimeoutError:
            log.warning("not_polled", reason=InboxUnavailableError.reason)
            return read_up_to
        return now

    def _take_in(
        self, issue: JsonObject, since: datetime, now: datetime
    ) -> datetime | None:
        """Have all that is asked in a ticket stored; tell when it was last changed."""
        try:
            found = find_requests(issue, self.listening, since)
        except PayloadError as error:
            # One ticket that we do not understand must not hide the others.
            log.warning("ticket_not_read", ticket=issue.get("key"), error=str(error))
            return None
        waiting = [self.submit(_delivery(one, now)) for one in found.triggers]
        for stored in waiting:
            stored.result(STORED_WITHIN_S)
        return found.updated


def _delivery(trigger: Trigger, now: datetime) -> Delivery:
    """Make what a webhook would have brought; found again, it has the same id."""
    return Delivery(
        service=SERVICE,
        id=f"poll:{trigger.key}",
        headers={},
        body=trigger.model_dump_json().encode(),
        received_at=now,
        reading=trigger,
    )
