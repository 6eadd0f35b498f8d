"""The answers to who asks how a process is."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from pydantic import SecretStr

from patchwright.core.clock import Clock
from patchwright.workers.ops.access import Access, Door, judge
from patchwright.workers.ops.health import Health, describe, examine, red_of
from patchwright.workers.ops.meters import MEDIA_TYPE

LIVE: Final = "/healthz"
READY: Final = "/readyz"
METRICS: Final = "/metrics"
_JSON: Final = "application/json"
_CLOSED: Final = (
    "the metrics need a token here: set PATCHWRIGHT_TELEMETRY__METRICS_TOKEN, or ask "
    "on the port of PATCHWRIGHT_TELEMETRY__PORT"
)


@dataclass(frozen=True)
class Asking:
    """A request for one of the three; `authorization` is that header, or empty."""

    path: str
    listener: Door
    peer: str = ""
    authorization: str = ""


@dataclass(frozen=True)
class Answer:
    status: int
    media_type: str
    body: bytes
    challenge: str = ""


@dataclass(frozen=True)
class Reporter:
    """Says how its process is; `show` writes the figures."""

    role: str
    health: Health
    clock: Clock
    show: Callable[[], bytes]
    token: SecretStr | None = None

    def answer(self, asking: Asking) -> Answer:
        if asking.path == LIVE:
            return self.live()
        if asking.path == READY:
            return self.ready()
        if asking.path == METRICS:
            return self.metrics(asking)
        return _json(404, {"status": "not-found"})

    def live(self) -> Answer:
        """Tell whether the process does anything, or should be started anew."""
        parts = examine(self.health.live, self.clock.now())
        if not (red := red_of(parts)):
            return _json(200, {"status": "ok"})
        body = {"status": "stuck", "role": self.role, "red": red}
        return _json(503, {**body, "parts": describe(parts)})

    def ready(self) -> Answer:
        """Tell whether the process can do its work now, part by part."""
        parts = examine(self.health.ready, self.clock.now())
        red = red_of(parts)
        status, word = (503, "not-ready") if red else (200, "ready")
        body = {"status": word, "role": self.role, "red": red}
        return _json(status, {**body, "parts": describe(parts)})

    def metrics(self, asking: Asking) -> Answer:
        access = judge(self.token, asking.authorization, asking.listener, asking.peer)
        match access:
            case Access.GRANTED:
                return Answer(200, MEDIA_TYPE, self.show())
            case Access.NEEDS_TOKEN:
                body = json.dumps({"status": "unauthorized"}).encode()
                return Answer(401, _JSON, body, challenge="Bearer")
            case Access.CLOSED:
                return _json(403, {"status": "forbidden", "why": _CLOSED})


def _json(status: int, body: dict[str, object]) -> Answer:
    return Answer(status, _JSON, json.dumps(body).encode())
