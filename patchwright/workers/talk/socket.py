"""Keep the connection open through which Slack sends us what happens."""

import threading
from contextlib import ExitStack
from typing import Final, Self

import structlog

from patchwright.core.errors import ServiceError
from patchwright.integrations.slack.socket_mode import SocketMode

_FIRST_WAIT_S: Final = 1.0
_LONGEST_WAIT_S: Final = 60.0

log = structlog.get_logger(__name__)


class KeptSocket:
    """A context; it connects in a thread of its own, however often that takes."""

    def __init__(self, socket: SocketMode) -> None:
        self._socket = socket
        self._stack = ExitStack()
        self._is_over = threading.Event()
        self._thread = threading.Thread(target=self._connect, name="slack-socket")

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._is_over.set()
        self._thread.join()
        self._stack.close()

    def _connect(self) -> None:
        wait_s = _FIRST_WAIT_S
        while not self._is_over.is_set():
            try:
                self._stack.enter_context(self._socket)
            except ServiceError as error:
                log.warning("slack_not_connected", reason=error.reason)
                self._is_over.wait(wait_s)
                wait_s = min(2 * wait_s, _LONGEST_WAIT_S)
            else:
                log.info("slack_connected")
                return
