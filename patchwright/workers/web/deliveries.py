"""The door for webhooks: verified and stored before the sender gets its 2xx."""

import asyncio
import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import structlog
from fastapi import Request, Response
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import JSONResponse

from patchwright.core.clock import Clock
from patchwright.core.errors import PatchwrightError, PayloadError, SignatureError
from patchwright.core.types.triggers import Reading
from patchwright.workers.intake.delivery import Delivery, Verdict
from patchwright.workers.intake.errors import IntakeUnavailableError
from patchwright.workers.intake.intake import Intake
from patchwright.workers.web.body import BodyTooLargeError, read_body
from patchwright.workers.web.receiver import Entrance

DELIVERIES: Final = "/api/integration/{service}/events"
# Reading a larger body may hold up the other requests noticeably: a stranger's text of
# brackets alone takes seconds.
_LARGE_BYTES: Final = 32 * 1024
_TOO_LARGE: Final = 413
_STATUS: Final[Mapping[type[PatchwrightError], int]] = {
    PayloadError: 400,
    SignatureError: 401,
    BodyTooLargeError: _TOO_LARGE,
    IntakeUnavailableError: 503,
}

log = structlog.get_logger(__name__)


@dataclass(frozen=True)
class DeliveryDoor:
    """Receives for every service that is configured."""

    entrances: Mapping[str, Entrance]
    intake: Intake
    clock: Clock

    async def receive(self, request: Request) -> Response:
        service = request.path_params["service"]
        entrance = self.entrances.get(service)
        if entrance is None:
            return _answer(404, "not-configured")
        try:
            verdict = await self._take_in(request, service, entrance)
        except tuple(_STATUS) as error:
            log.warning("delivery_refused", service=service, reason=error.reason)
            return _answer(_STATUS[type(error)], error.reason)
        log.info("delivery_stored", service=service, verdict=verdict)
        return _answer(202 if verdict is Verdict.ACCEPTED else 200, verdict)

    async def _take_in(
        self, request: Request, service: str, entrance: Entrance
    ) -> Verdict:
        body = await read_body(request, entrance.max_body_bytes)
        headers = dict(request.headers)
        delivery = Delivery(
            service=service,
            id=headers.get(entrance.id_header) or hashlib.sha256(body).hexdigest(),
            headers=headers,
            body=body,
            received_at=self.clock.now(),
            reading=await _read(entrance, headers, body),
        )
        stored = await asyncio.wrap_future(self.intake.submit(delivery))
        return stored.verdict


async def _read(entrance: Entrance, headers: Mapping[str, str], body: bytes) -> Reading:
    if len(body) <= _LARGE_BYTES:
        return entrance.receiver.read(headers, body)
    return await run_in_threadpool(entrance.receiver.read, headers, body)


def _answer(status: int, word: str) -> Response:
    # Whoever sends a body that is too large would go on with it.
    headers = {"connection": "close"} if status == _TOO_LARGE else None
    return JSONResponse({"status": word}, status_code=status, headers=headers)
