"""The answers of the health and metrics endpoints, and who may read the metrics."""

import hmac
import json
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum, auto
from ipaddress import ip_address
from typing import Final

from pydantic import SecretStr

from patchwright.core.system.clock import Clock
from patchwright.workers.ops.health import (
    Health,
    failing_parts,
    parts_as_json,
    run_health_checks,
)
from patchwright.workers.ops.process_metrics import MEDIA_TYPE

_SCHEME: Final = "bearer"


def has_bearer_token(authorization: str, token: str) -> bool:
    """Check the header of that name; an empty token never matches.

    https://www.rfc-editor.org/rfc/rfc6750#section-2.1
    """
    scheme, _, brought = authorization.partition(" ")
    is_same = hmac.compare_digest(brought.strip().encode(), token.encode())
    return bool(token) and scheme.lower() == _SCHEME and is_same


class ListenerKind(Enum):
    """Where somebody asks: where the public may come too, or on the port for that."""

    PUBLIC = auto()
    OWN_PORT = auto()


class MetricsAccess(Enum):
    GRANTED = auto()
    NEEDS_TOKEN = auto()
    CLOSED = auto()


def judge_metrics_access(
    token: SecretStr | None, authorization: str, listener: ListenerKind, peer: str
) -> MetricsAccess:
    """Decide whether the metrics are shown.

    Without a token nobody reads them where the public comes: a proxy on the same
    machine makes everybody look like a neighbour.
    """
    if token is not None:
        is_right = has_bearer_token(authorization, token.get_secret_value())
        return MetricsAccess.GRANTED if is_right else MetricsAccess.NEEDS_TOKEN
    if listener is ListenerKind.OWN_PORT and _is_private_address(peer):
        return MetricsAccess.GRANTED
    return MetricsAccess.CLOSED


def _is_private_address(peer: str) -> bool:
    """Tell whether an address is this machine's, or of a private network."""
    try:
        address = ip_address(peer.partition("%")[0])
    except ValueError:
        return False
    mapped = getattr(address, "ipv4_mapped", None) or address
    return mapped.is_loopback or (mapped.is_private and not mapped.is_unspecified)


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
        """Return whether the process makes progress, or should be restarted."""
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
        access = judge_metrics_access(
            self.token, asking.authorization, asking.listener, asking.peer
        )
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
