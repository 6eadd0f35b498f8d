"""Sign what happened, and carry it to whoever listens.

https://docs.slack.dev/authentication/verifying-requests-from-slack
"""

import hmac
import http.client
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import urlencode, urlsplit

from tests.fakes.slack.state import Json, World

TIMEOUT_S = 10
FORM = "application/x-www-form-urlencoded"


@dataclass(frozen=True)
class Receipt:
    """What the receiver answered."""

    status: int
    body: bytes

    def json(self) -> Json:
        """Return the answer's object; an empty answer is one without anything."""
        found: Json = json.loads(self.body or b"{}")
        return found


@dataclass(kw_only=True)
class Delivery:
    """A signed request; `name` is the event's type, or that of the interaction."""

    name: str
    content_type: str
    body: bytes
    tries: int = 0
    receipts: list[Receipt] = field(default_factory=list)

    @property
    def status(self) -> int | None:
        """What the receiver answered last, None if nobody listened."""
        return self.receipts[-1].status if self.receipts else None


def of_event(body: Json) -> Delivery:
    event = body.get("event") or {}
    name = ".".join(filter(None, (event.get("type"), event.get("subtype"))))
    raw = json.dumps(body, separators=(",", ":")).encode()
    return Delivery(
        name=name or body["type"], content_type="application/json", body=raw
    )


def of_interaction(payload: Json) -> Delivery:
    raw = urlencode({"payload": json.dumps(payload)}).encode()
    return Delivery(name=payload["type"], content_type=FORM, body=raw)


def of_command(fields: Mapping[str, str]) -> Delivery:
    return Delivery(name="command", content_type=FORM, body=urlencode(fields).encode())


def headers_of(world: World, delivery: Delivery, reason: str = "") -> dict[str, str]:
    """Return the headers for sending it now; a repetition says so."""
    at = str(int(world.clock.now().timestamp()))
    headers = {
        "Content-Type": delivery.content_type,
        "User-Agent": "Slackbot 1.0 (+https://api.slack.com/robots)",
        "X-Slack-Request-Timestamp": at,
        "X-Slack-Signature": signature(world.app.signing_secret, at, delivery.body),
    }
    if delivery.tries:
        headers["X-Slack-Retry-Num"] = str(delivery.tries)
        headers["X-Slack-Retry-Reason"] = reason
    return headers


def signature(secret: str, at: str, body: bytes) -> str:
    signed = f"v0:{at}:".encode() + body
    return f"v0={hmac.new(secret.encode(), signed, 'sha256').hexdigest()}"


def send(url: str, headers: Mapping[str, str], body: bytes) -> Receipt:
    """Post to an http address and return the answer."""
    parts = urlsplit(url)
    connection = http.client.HTTPConnection(
        parts.hostname or "", parts.port, timeout=TIMEOUT_S
    )
    try:
        connection.request("POST", parts.path or "/", body, dict(headers))
        response = connection.getresponse()
        return Receipt(response.status, response.read())
    finally:
        connection.close()
