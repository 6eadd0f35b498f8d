"""Keep the connection open through which Slack sends us what happens."""

import threading
from contextlib import ExitStack
from typing import Self

import structlog

from patchwright.integrations.slack.actions import SERVICE
from patchwright.integrations.slack.socket_mode import SocketMode
from patchwright.workers.talk.trying import GRACE_S, retry_until_over

log = structlog.get_logger(__name__)


class SocketConnection:
    """A context; it connects in a thread of its own, and ends there."""

    def __init__(self, socket: SocketMode) -> None:
        self._socket = socket
        self._is_over = threading.Event()
        self._thread = threading.Thread(
            target=self._keep, name="slack-socket", daemon=True
        )

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._is_over.set()
        # In the middle of connecting it goes on until that is done, and ends then.
        self._thread.join(GRACE_S)

    def _keep(self) -> None:
        with ExitStack() as stack:
            if retry_until_over(SERVICE, lambda: self._connect(stack), self._is_over):
                log.info("slack_connected")
                self._is_over.wait()

    def _connect(self, stack: ExitStack) -> None:
        stack.enter_context(self._socket)
