"""Take deliveries that come through a connection of ours, as the web side does."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Final

import structlog

from patchwright.core.background import start_call
from patchwright.core.clock import Clock
from patchwright.core.types.triggers import Challenge, InteractionRequest
from patchwright.workers.intake.errors import InboxUnavailableError
from patchwright.workers.intake.intake import Inbox
from patchwright.workers.web.deliveries import make_delivery
from patchwright.workers.web.receiver import WebhookSource

STORED_WITHIN_S: Final = 10.0

log = structlog.get_logger(__name__)


@dataclass(frozen=True)
class SocketDeliveries:
    """Returns what the sender waits for, once the delivery is stored."""

    service: str
    webhook_source: WebhookSource
    intake: Inbox
    clock: Clock

    def __call__(
        self, headers: Mapping[str, str], body: bytes
    ) -> dict[str, object] | None:
        reading = self.webhook_source.receiver.read(headers, body)
        if isinstance(reading, Challenge):
            return None
        if isinstance(reading, InteractionRequest):
            return self._answer(reading)
        delivery = make_delivery(
            self.service,
            self.webhook_source,
            reading,
            headers=headers,
            body=body,
            received_at=self.clock.now(),
        )
        try:
            stored = self.intake.submit(delivery).result(STORED_WITHIN_S)
        except TimeoutError:
            raise InboxUnavailableError("the database takes too long") from None
        log.info(
            "delivery_stored",
            service=self.service,
            verdict=stored.verdict,
            delivery_id=delivery.id,
            **stored.ids,
        )
        return None

    def _answer(self, prompt: InteractionRequest) -> dict[str, object] | None:
        front = self.webhook_source.interactions
        if front is None:
            return None
        answer = front.answer(prompt)
        start_call(partial(front.follow, prompt))
        return dict(answer) or None
