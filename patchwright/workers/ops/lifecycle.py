"""The roles of a process, its port and its end; light, for the command line."""

import logging
import os
import socket
import sys
from dataclasses import dataclass
from enum import StrEnum
from typing import Final, NoReturn

from patchwright.core.types.errors import PatchwrightError, SettingsError


class ProcessRole(StrEnum):
    """What a process does; `all` is web and worker in one."""

    ALL = "all"
    WEB = "web"
    WORKER = "worker"
    SCHEDULER = "scheduler"


def exit_now(exit_code: int) -> NoReturn:
    """End the process now, with the threads that do not end by themselves.

    Python would wait for them, and one of them may be in the middle of a clone. A job
    that is cut off here is taken up again like that of a killed worker.
    """
    logging.shutdown()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(exit_code)


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
