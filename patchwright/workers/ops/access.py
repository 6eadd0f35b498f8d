"""Who may read the metrics."""

from enum import Enum, auto
from ipaddress import ip_address

from pydantic import SecretStr

from patchwright.workers.bearer import has_bearer_token


class ListenerKind(Enum):
    """Where somebody asks: where the public may come too, or on the port for that."""

    PUBLIC = auto()
    OWN_PORT = auto()


class MetricsAccess(Enum):
    GRANTED = auto()
    NEEDS_TOKEN = auto()
    CLOSED = auto()


def judge_metrics_access(token: SecretStr | None, authorization: str, listener: ListenerKind, peer: str) -> MetricsAccess:
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
