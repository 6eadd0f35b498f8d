"""What the web edge knows about a service that sends deliveries."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Protocol

from patchwright.core.errors import PatchwrightError
from patchwright.core.types.triggers import Ignored, InteractionRequest, ParsedWebhook, UndatedNotice

# https://docs.github.com/webhooks/webhook-events-and-payloads#payload-cap
GITHUB_MAX_BODY_BYTES = 25 * 1024 * 1024


class NotReadyError(PatchwrightError):
    """Deliveries cannot be read yet; whoever sends them may try again."""

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


@dataclass(frozen=True)
class WebhookSource:
    """Where one service delivers.

    `identify` returns the service's own id of a delivery, the same when it is repeated,
    or an empty string. `signature_header` names, in lower case, the header that carries
    the signature: without one nothing is read. With `is_silent` it shows people what we
    answer, so that it gets nothing but a status. What has no time of its own counts as
    it is told where nothing `confirm`s it.
    """

    receiver: WebhookReceiver
    identify: IdentifyDelivery
    max_body_bytes: int = GITHUB_MAX_BODY_BYTES
    interactions: InteractionHandler | None = None
    is_silent: bool = False
    signature_header: str = ""
    confirm: ConfirmNotice | None = None


def by_header(name: str) -> IdentifyDelivery:
    """Take a header for the id; its name is in lower case."""
    return lambda headers, _body: headers.get(name, "")
