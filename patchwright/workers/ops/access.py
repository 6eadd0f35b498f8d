"""Who may read the metrics."""

from enum import Enum, auto
from ipaddress import ip_address

from pydantic import SecretStr

from patchwright.workers.bearer import bears


class Door(Enum):
    """Where somebody asks: where the public may come too, or on the port for that."""

    PUBLIC = auto()
    OWN_PORT = auto()


class Access(Enum):
    GRANTED = auto()
    NEEDS_TOKEN = auto()
    CLOSED = auto()


def judge(token: SecretStr | None, authorization: str, listener: Door, peer: str) -> Access:
    """Decide whether the metrics are shown.

    Without a token nobody reads them where the public comes: a proxy on the same
    machine makes everybody look like a neighbour.
    """
    if token is not None:
        is_right = bears(authorization, token.get_secret_value())
        return Access.GRANTED if is_right else Access.NEEDS_TOKEN
    if listener is Door.OWN_PORT and _is_near(peer):
        return Access.GRANTED
    return Access.CLOSED


def _is_near(peer: str) -> bool:
    """Tell whether an address is this machine's, or of a private network."""
    try:
        address = ip_address(peer.partition("%")[0])
    except ValueError:
        return False
    mapped = getattr(address, "ipv4_mapped", None) or address
    return mapped.is_loopback or (mapped.is_private and not mapped.is_unspecified)
