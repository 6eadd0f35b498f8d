"""How a service delivers: its webhook source, a delivery, and its result."""

import hashlib
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Final, Protocol

from patchwright.core.types.base import ConversationId, JobId
from patchwright.core.types.errors import PatchwrightError
from patchwright.core.types.triggers import (
    Ignored,
    InteractionRequest,
    ParsedWebhook,
    StoredDelivery,
    Trigger,
    UndatedNotice,
)

# Where each service delivers.
WEBHOOK_ROUTE: Final = "/api/integration/{service}/events"
# Services that send no file along say little; others bring whole files.
MAX_BODY_BYTES: Final = 1024 * 1024
LARGEST_BODY_BYTES: Final = 25 * 1024 * 1024


class InboxUnavailableError(PatchwrightError):
    """The delivery was not stored: too many are waiting, or the database is away."""

    reason = "intake-unavailable"


@dataclass(frozen=True)
class Delivery:
    """One webhook request. `id` is the service's own, and the same when it repeats.

    The `headers` are those that explain it; their names are in lower case.
    """

    service: str
    id: str
    headers: Mapping[str, str]
    body: bytes
    received_at: datetime
    reading: StoredDelivery


class DeliveryVerdict(StrEnum):
    ACCEPTED = "accepted"
    JOINED = "joined"
    DUPLICATE = "duplicate"
    NOTED = "noted"
    IGNORED = "ignored"


@dataclass(frozen=True)
class InboxResult:
    """The result of a delivery: a new job, a message to a job, or nothing.

    With `wakes` the job has waited for such a message, and is to be submitted, and so
    are those of `due`. `told` are the other conversations whose log has new events.
    """

    verdict: DeliveryVerdict
    job_id: JobId | None = None
    conversation_id: ConversationId | None = None
    wakes: bool = False
    due: tuple[JobId, ...] = ()
    other_conversations: tuple[ConversationId, ...] = ()

    @property
    def ids(self) -> dict[str, str]:
        """What a line of the log names to be found with the others of its run."""
        named = {"job_id": self.job_id, "conversation_id": self.conversation_id}
        return {name: found for name, found in named.items() if found is not None}


class NotReadyError(PatchwrightError):
    """Deliveries cannot be read yet; the sender may try again."""

    reason = "not-ready"


class WebhookReceiver(Protocol):
    """Verifies and understands the deliveries of one service, without I/O."""

    def read(self, headers: Mapping[str, str], body: bytes) -> ParsedWebhook:
        """Return what a delivery asks for; header names come in lower case.

        Raises `SignatureError` if it was not signed by us, `PayloadError` if it makes
        no sense, and perhaps `NotReadyError`.
        """
        ...


class InteractionHandler(Protocol):
    """Answers what people do where a service lets us build something for them."""

    def answer(self, prompt: InteractionRequest) -> Mapping[str, object]:
        """Return what the service waits for; it may take a second or two."""
        ...

    def follow(self, prompt: InteractionRequest) -> None:
        """Do what comes after the answer."""
        ...


IdentifyDelivery = Callable[[Mapping[str, str], bytes], str]
# Asks the service whether a notice still holds; may take a while, and raise
# `NotReadyError`.
ConfirmNotice = Callable[[UndatedNotice], UndatedNotice | Ignored]
# Does at once what cannot wait for a worker; it raises nothing.
FollowDelivery = Callable[[StoredDelivery], None]


# 32 bytes in hexadecimal, mostly with a word for the method and `=` first.
USUAL_SIGNATURE: Final = re.compile(r"(?:[a-z0-9]{1,10}=)?[0-9a-fA-F]{64}", re.ASCII)


@dataclass(frozen=True)
class WebhookSource:
    """Where one service delivers.

    `identify` returns the service's own id of a delivery, the same when it is repeated,
    or an empty string. `signature_header` names, in lower case, the header that carries
    the signature: without one of the `signature_form` nothing is read. With `is_silent`
    it gets a 200 and no words: it shows people what we answer, or takes any other
    status for a failure. What has no time of its own counts as it is told where
    nothing `confirm`s it, and `follow` is called once it is stored and answered.
    Headers that begin with `kept_headers`, in lower case, explain a delivery and are
    stored with it.
    """

    receiver: WebhookReceiver
    identify: IdentifyDelivery
    max_body_bytes: int = LARGEST_BODY_BYTES
    interactions: InteractionHandler | None = None
    is_silent: bool = False
    signature_header: str = ""
    signature_form: re.Pattern[str] = USUAL_SIGNATURE
    confirm: ConfirmNotice | None = None
    follow: FollowDelivery | None = None
    kept_headers: tuple[str, ...] = ()


def by_header(name: str) -> IdentifyDelivery:
    """Take a header for the id; its name is in lower case."""
    return lambda headers, _body: headers.get(name, "")


_ALWAYS_KEPT: Final = ("content-type", "user-agent")


def make_delivery(
    service: str,
    webhook_source: WebhookSource,
    reading: StoredDelivery,
    *,
    headers: Mapping[str, str],
    body: bytes,
    received_at: datetime,
) -> Delivery:
    kept = (*_ALWAYS_KEPT, *webhook_source.kept_headers)
    return Delivery(
        service=service,
        id=webhook_source.identify(headers, body) or hashlib.sha256(body).hexdigest(),
        headers={name: headers[name] for name in headers if name.startswith(kept)},
        body=body,
        received_at=received_at,
        reading=reading,
    )


def make_own_delivery(
    service: str,
    delivery_id: str,
    trigger: Trigger,
    received_at: datetime,
    body: bytes = b"",
) -> Delivery:
    """Return a delivery of what no webhook has brought; nobody has signed its body."""
    return Delivery(
        service=service,
        id=delivery_id,
        headers={},
        body=body,
        received_at=received_at,
        reading=trigger,
    )


def make_polled_delivery(service: str, trigger: Trigger, now: datetime) -> Delivery:
    """Make what a webhook would have brought; found again, it has the same id."""
    body = trigger.model_dump_json().encode()
    return make_own_delivery(service, f"poll:{trigger.key}", trigger, now, body)
