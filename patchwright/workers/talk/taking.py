"""Take deliveries that come through a connection of ours, as the web side does."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Final

import structlog

from patchwright.core.background import start
from patchwright.core.clock import Clock
from patchwright.core.types.triggers import Challenge, Prompt
from patchwright.workers.intake.errors import IntakeUnavailableError
from patchwright.workers.intake.intake import Intake
from patchwright.workers.web.deliveries import make_delivery
from patchwright.workers.web.receiver import Entrance

STORED_WITHIN_S: Final = 10.0

log = structlog.get_logger(__name__)


@dataclass(frozen=True)
class Taking:
    """Returns what the sender waits for, once the delivery is stored."""

    service: str
    entrance: Entrance
    intake: Intake
    clock: Clock

    def __call__(
        self, headers: Mapping[str, str], body: bytes
    ) -> dict[str, object] | None:
        reading = self.entrance.receiver.read(headers, body)
        if isinstance(reading, Challenge):
            return None
        if isinstance(reading, Prompt):
            return self._answer(reading)
        delivery = make_delivery(
            self.service,
            self.entrance,
            reading,
            headers=headers,
            body=body,
            received_at=self.clock.now(),
        )
        try:
            stored = self.intake.submit(delivery).result(STORED_WITHIN_S)
        except TimeoutError:
            raise IntakeUnavailableError("the database takes too long") from None
        log.info(
            "delivery_stored",
            service=self.service,
            verdict=stored.verdict,
            delivery_id=delivery.id,
            **stored.ids,
        )
        return None

    def _answer(self, prompt: Prompt) -> dict[str, object] | None:
        front = self.entrance.interactions
        if front is None:
            return None
        answer = front.answer(prompt)
        start(partial(front.follow, prompt))
        return dict(answer) or None
