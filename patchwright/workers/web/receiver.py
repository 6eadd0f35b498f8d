"""What the web edge knows about a service that sends deliveries."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from patchwright.core.types.triggers import Reading

# https://docs.github.com/webhooks/webhook-events-and-payloads#payload-cap
GITHUB_MAX_BODY_BYTES = 25 * 1024 * 1024


class Receiver(Protocol):
    """Verifies and understands the deliveries of one service, without I/O."""

    def read(self, headers: Mapping[str, str], body: bytes) -> Reading:
        """Return what a delivery asks for; header names come in lower case.

        Raises `SignatureError` if it was not signed by us, `PayloadError` if it makes
        no sense.
        """
        ...


@dataclass(frozen=True)
class Entrance:
    """Where one service delivers. `id_header` is in lower case."""

    receiver: Receiver
    id_header: str
    max_body_bytes: int = GITHUB_MAX_BODY_BYTES
