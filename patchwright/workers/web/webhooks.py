"""The webhook route: deliveries are verified and stored before the sender's 2xx."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

import structlog
from fastapi import BackgroundTasks, Request, Response
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import JSONResponse
from starlette.background import BackgroundTask
from structlog.contextvars import bind_contextvars

from patchwright.core.system.clock import Clock
from patchwright.core.types.errors import (
    PatchwrightError,
    PayloadError,
    SignatureError,
    TenantError,
)
from patchwright.core.types.triggers import (
    Challenge,
    InteractionRequest,
    ParsedWebhook,
    UndatedNotice,
)
from patchwright.core.webhook import (
    DeliveryVerdict,
    InboxUnavailableError,
    NotReadyError,
    WebhookSource,
    make_delivery,
)
from patchwright.workers.inbox.inbox import Inbox
from patchwright.workers.web.body import (
    Bodies,
    BodiesFullError,
    BodyCutOffError,
    BodyTooLargeError,
    BodyTooSlowError,
    refuse_body,
)

# Reading a larger body may hold up the other requests noticeably: a stranger's text of
# brackets alone takes seconds.
_LARGE_BYTES: Final = 32 * 1024
# Read so many at once of those from which a large message is made.
_HUGE_BYTES: Final = 1 << 20
_HUGE_AT_ONCE: Final = 4
_STATUS: Final[Mapping[type[PatchwrightError], int]] = {
    PayloadError: 400,
    SignatureError: 401,
    TenantError: 403,
    BodyTooLargeError: 413,
    BodyTooSlowError: 408,
    # nginx's status for a sender who left: it appears only in our own metrics.
    BodyCutOffError: 499,
    BodiesFullError: 503,
    InboxUnavailableError: 503,
    NotReadyError: 503,
}

# Anybody can have as many of these as there are connections.
_FREQUENT_ERRORS: Final = (BodyTooSlowError, BodyCutOffError, BodiesFullError)

log = structlog.get_logger(__name__)


@dataclass(frozen=True)
class WebhookRoute:
    """Receives for every service that is configured."""

    webhook_sources: Mapping[str, WebhookSource]
    inbox: Inbox
    clock: Clock
    bodies: Bodies = field(default_factory=Bodies)
    huge: asyncio.Semaphore = field(
        default_factory=lambda: asyncio.Semaphore(_HUGE_AT_ONCE)
    )

    async def receive(self, request: Request) -> Response:
        """Receive a webhook of a service."""
        service = request.path_params["service"]
        webhook_source = self.webhook_sources.get(service)
        if webhook_source is None:
            return _answer(404, "not-configured")
        try:
            return await self._take(request, service, webhook_source)
        except tuple(_STATUS) as error:
            tell = log.debug if isinstance(error, _FREQUENT_ERRORS) else log.warning
            tell("delivery_refused", service=service, reason=error.reason)
            return _refuse(error)

    async def _take(
        self, request: Request, service: str, webhook_source: WebhookSource
    ) -> Response:
        headers = dict(request.headers)
        _look_for_signature(webhook_source, headers)
        async with self.bodies.body_of(request, webhook_source.max_body_bytes) as body:
            reading = await self._read(webhook_source, headers, body)
        if isinstance(reading, Challenge):
            return JSONResponse({"challenge": reading.word})
        if isinstance(reading, InteractionRequest):
            return await _answer_interaction(webhook_source, reading)
        if isinstance(reading, UndatedNotice) and webhook_source.confirm:
            reading = await run_in_threadpool(webhook_source.confirm, reading)
        now = self.clock.now()
        delivery = make_delivery(
            service,
            webhook_source,
            reading,
            headers=headers,
            body=body,
            received_at=now,
        )
        bind_contextvars(delivery_id=delivery.id)
        stored = await asyncio.wrap_future(self.inbox.submit(delivery))
        bind_contextvars(**stored.ids)
        log.info("delivery_stored", service=service, verdict=stored.verdict)
        if webhook_source.is_silent:
            answer = Response(status_code=200)
        else:
            is_new = stored.verdict is DeliveryVerdict.ACCEPTED
            answer = _answer(202 if is_new else 200, stored.verdict)
        if webhook_source.follow and stored.verdict is not DeliveryVerdict.IGNORED:
            answer.background = BackgroundTask(webhook_source.follow, reading)
        return answer

    async def _read(
        self, webhook_source: WebhookSource, headers: Mapping[str, str], body: bytes
    ) -> ParsedWebhook:
        if len(body) <= _LARGE_BYTES:
            return webhook_source.receiver.read(headers, body)
        if len(body) <= _HUGE_BYTES:
            return await run_in_threadpool(webhook_source.receiver.read, headers, body)
        async with self.huge:
            return await run_in_threadpool(webhook_source.receiver.read, headers, body)


async def _answer_interaction(
    webhook_source: WebhookSource, prompt: InteractionRequest
) -> Response:
    """Answer at once, and do the rest when the service has its answer."""
    front = webhook_source.interactions
    if front is None:
        return Response(status_code=200)
    answer = await run_in_threadpool(front.answer, prompt)
    then = BackgroundTasks()
    then.add_task(front.follow, prompt)
    if not answer:
        return Response(status_code=200, background=then)
    return JSONResponse(dict(answer), background=then)


def _look_for_signature(
    webhook_source: WebhookSource, headers: Mapping[str, str]
) -> None:
    """Refuse an unsigned request before its body is read."""
    if not webhook_source.signature_header:
        return
    sent = headers.get(webhook_source.signature_header, "")
    if not webhook_source.signature_form.fullmatch(sent):
        raise SignatureError("the webhook has no signature")


def _refuse(error: PatchwrightError) -> Response:
    status = _STATUS[type(error)]
    if isinstance(error, (BodyTooLargeError, *_FREQUENT_ERRORS)):
        return refuse_body(status, error)
    return _answer(status, error.reason)


def _answer(status: int, word: str) -> Response:
    return JSONResponse({"status": word}, status_code=status)
