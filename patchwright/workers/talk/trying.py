"""Try to reach a service until it is there, however often that takes."""

import threading
from collections.abc import Callable
from typing import Final

import structlog

from patchwright.core.errors import ServiceError

_FIRST_WAIT_S: Final = 1.0
_LONGEST_WAIT_S: Final = 60.0
# Whoever ends the process waits no longer for a service that does not answer.
GRACE_S: Final = 2.0

log = structlog.get_logger(__name__)


def keep_trying(
    service: str, act: Callable[[], object], is_over: threading.Event
) -> bool:
    """Act until that raises no `ServiceError`; tell whether it did before the end."""
    wait_s = _FIRST_WAIT_S
    while not is_over.is_set():
        try:
            act()
        except ServiceError as error:
            reason, text = error.reason, str(error)
            log.warning("not_reached", service=service, reason=reason, error=text)
            is_over.wait(wait_s)
            wait_s = min(2 * wait_s, _LONGEST_WAIT_S)
        else:
            return True
    return False
