"""The answers to who asks how a process is."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from pydantic import SecretStr

from patchwright.core.clock import Clock
from patchwright.workers.ops.access import MetricsAccess, ListenerKind, judge_metrics_access
from patchwright.workers.ops.health import Health, parts_as_json, run_health_checks, failing_parts
from patchwright.workers.ops.meters import MEDIA_TYPE

LIVE: Final = "/healthz"
READY: Final = "/readyz"
METRICS: Final = "/metrics"
_JSON: Final = "application/json"
_METRICS_CLOSED: Final = (
    "the metrics need a token here: set PATCHWRIGHT_TELEMETRY__METRICS_TOKEN, or ask "
    "on the port of PATCHWRIGHT_TELEMETRY__PORT"
)


@dataclass(frozen=True)
class StatusRequest:
    """A request for one of the three; `authorization` is that header, or empty."""

    path: str
    listener: ListenerKind
    peer: str = ""
    authorization: str = ""


@dataclass(frozen=True)
class StatusAnswer:
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

    def answer(self, asking: StatusRequest) -> StatusAnswer:
        if asking.path == LIVE:
            return self.live()
        if asking.path == READY:
            return self.ready()
        if asking.path == METRICS:
            return self.metrics(asking)
        return _json(404, {"status": "not-found"})

    def live(self) -> StatusAnswer:
        """Tell whether the process does anything, or should be started anew."""
        parts = run_health_checks(self.health.live, self.clock.now())
        if not (red := failing_parts(parts)):
            return _json(200, {"status": "ok"})
        body = {"status": "stuck", "role": self.role, "red": red}
        return _json(503, {**body, "parts": parts_as_json(parts)})

    def ready(self) -> StatusAnswer:
        """Tell whether the process can do its work now, part by part."""
        parts = run_health_checks(self.health.ready, self.clock.now())
        red = failing_parts(parts)
        status, word = (503, "not-ready") if red else (200, "ready")
        body = {"status": word, "role": self.role, "red": red}
        return _json(status, {**body, "parts": parts_as_json(parts)})

    def metrics(self, asking: StatusRequest) -> StatusAnswer:
        access = judge_metrics_access(self.token, asking.authorization, asking.listener, asking.peer)
        match access:
            case MetricsAccess.GRANTED:
                return StatusAnswer(200, MEDIA_TYPE, self.show())
            case MetricsAccess.NEEDS_TOKEN:
                body = json.dumps({"status": "unauthorized"}).encode()
                return StatusAnswer(401, _JSON, body, challenge="Bearer")
            case MetricsAccess.CLOSED:
                return _json(403, {"status": "forbidden", "why": _METRICS_CLOSED})


def _json(status: int, body: dict[str, object]) -> StatusAnswer:
    return StatusAnswer(status, _JSON, json.dumps(body).encode())
