"""Look for deliveries that did not reach us, and have them sent again."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import timedelta
from typing import Final

import structlog

from patchwright.core.clock import Clock
from patchwright.core.errors import NotFoundError, ServiceError
from patchwright.integrations.github.deliveries import KEPT_FOR, Hook
from patchwright.workers.store.missed import MissedDeliveryStore

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
            # Counted first: whatever comes of it, it was one of the few times.
            self.missed.mark_asked(missed)
            log.info("asks_again", delivery=missed.delivery_id, times=missed.asked + 1)
            try:
                hook.redeliver(missed.attempt_id)
            except NotFoundError:
                log.warning("delivery_is_gone", delivery=missed.delivery_id)
