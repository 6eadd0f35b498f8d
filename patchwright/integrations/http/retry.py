"""Retry a request to a service until it answers."""

import threading
from collections.abc import Callable
from typing import Final, Generic, Self, TypeVar

import structlog

from patchwright.core.types.errors import ServiceError
from patchwright.core.webhook import NotReadyError

_FIRST_WAIT_S: Final = 1.0
_LONGEST_WAIT_S: Final = 60.0
# The end of the process waits no longer for a service that does not answer.
GRACE_S: Final = 2.0

T = TypeVar("T")

log = structlog.get_logger(__name__)


class BackgroundLookup(Generic[T]):
    """Asks a service for what one must know to listen there, until it is answered.

    Used as a context, with a thread of its own. Until then `known` is the known part,
    and senders are asked to send again.
    """

    def __init__(
        self, service: str, ask: Callable[[], T], known: T | None = None
    ) -> None:
        self._service, self._ask_service = service, ask
        self._known = known
        self._is_tried = threading.Event()
        self._is_over = threading.Event()
        self._thread = threading.Thread(
            target=self._keep_asking, name=f"{service}-identity", daemon=True
        )

    def __enter__(self) -> Self:
        self._thread.start()
        self._is_tried.wait(GRACE_S)
        return self

    def __exit__(self, *_: object) -> None:
        self._is_over.set()
        self._thread.join(GRACE_S)

    @property
    def is_ready(self) -> bool:
        return self._known is not None

    def known(self) -> T:
        """Return what is known; raises `NotReadyError`."""
        if self._known is None:
            raise NotReadyError(
                f"{self._service} has not answered yet which user the bot is"
            )
        return self._known

    def _keep_asking(self) -> None:
        if retry_until_over(self._service, self._ask, self._is_over):
            self._follow()

    def _follow(self) -> None:
        """Do what comes after the answer."""

    def _ask(self) -> None:
        try:
            self._known = self._ask_service()
        finally:
            self._is_tried.set()


def retry_until_over(
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
