"""Take a port."""

import os
import socket
from dataclasses import dataclass
from typing import Final

from patchwright.core.errors import PatchwrightError, SettingsError

_BACKLOG: Final = 2048


class PortUnavailableError(PatchwrightError):
    """Somebody else listens there, or we may not."""

    reason = "port-unavailable"


@dataclass(frozen=True)
class ListenAddress:
    """Where to listen. `section` is that of the settings, `fix` is for a port taken."""

    section: str
    host: str
    port: int
    fix: str


def listen(spot: ListenAddress) -> socket.socket:
    """Return a socket that listens; who connects waits until somebody accepts.

    Raises `PortUnavailableError`, and `SettingsError` for a host that is none.
    """
    host, port = spot.host, spot.port
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family, backlog=_BACKLOG)
    except socket.gaierror as error:
        raise SettingsError(f"{spot.section}.host: {host}: {error.strerror}") from error
    except OSError as error:
        reason = os.strerror(error.errno or 0)
        raise PortUnavailableError(
            f"cannot listen on {host} port {port}: {reason}; {spot.fix}"
        ) from error
