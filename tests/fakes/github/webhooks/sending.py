"""Carry a delivery to whoever listens, once, as GitHub does."""

import http.client
from dataclasses import dataclass
from urllib.parse import urlsplit

from tests.fakes.github.state import Delivery

# GitHub gives up after ten seconds and does not send a delivery again by itself.
# https://docs.github.com/webhooks/using-webhooks/handling-failed-webhook-deliveries
TIMEOUT_S = 10


@dataclass(frozen=True)
class Receipt:
    """What the receiver answered."""

    status: int
    body: bytes


def deliver(delivery: Delivery, url: str) -> Receipt:
    """Post the delivery to an http or https address and return the answer."""
    parts = urlsplit(url)
    secure = parts.scheme == "https"
    kind = http.client.HTTPSConnection if secure else http.client.HTTPConnection
    connection = kind(parts.hostname or "", parts.port, timeout=TIMEOUT_S)
    try:
        path = f"{parts.path or '/'}{'?' if parts.query else ''}{parts.query}"
        connection.request("POST", path, delivery.body, dict(delivery.headers))
        response = connection.getresponse()
        return Receipt(response.status, response.read())
    finally:
        connection.close()
