"""Take the port before anything else is started."""

import os
import socket
from typing import Final

import structlog

from patchwright.core.errors import PatchwrightError, SettingsError

_BACKLOG: Final = 2048

log = structlog.get_logger(__name__)


class PortUnavailableError(PatchwrightError):
    """Somebody else listens there, or we may not."""

    reason = "port-unavailable"


def listen(host: str, port: int) -> socket.socket:
    """Return a socket that listens; who connects waits until the service is up.

    Raises `PortUnavailableError`, and `SettingsError` for a host that is none.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        listening = socket.create_server((host, port), family=family, backlog=_BACKLOG)
    except socket.gaierror as error:
        raise SettingsError(f"server.host: {host}: {error.strerror}") from error
    except OSError as error:
        reason = os.strerror(error.errno or 0)
        raise PortUnavailableError(
            f"cannot listen on {host} port {port}: {reason}; choose another with "
            "--port or PATCHWRIGHT_SERVER__PORT"
        ) from error
    log.info("listening", host=host, port=listening.getsockname()[1])
    return listening
