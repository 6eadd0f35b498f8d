"""Take deliveries through a connection that we open to Slack.

https://docs.slack.dev/apis/events-api/using-socket-mode
"""

import json
import socket
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Final, Self

import structlog
from pydantic import SecretStr
from slack_sdk import WebClient
from slack_sdk.errors import SlackClientNotConnectedError
from slack_sdk.socket_mode.builtin import SocketModeClient
from slack_sdk.socket_mode.client import BaseSocketModeClient
from slack_sdk.socket_mode.request import SocketModeRequest
from slack_sdk.socket_mode.response import SocketModeResponse

from patchwright.core.system.clock import Clock
from patchwright.core.types.errors import PatchwrightError, ServiceUnavailableError
from patchwright.integrations.slack.errors import translate_errors

# Takes the headers and the body of a delivery, as our address would get them, and
# returns what Slack waits to hear, if anything. It returns once the delivery is stored.
TakeDelivery = Callable[[Mapping[str, str], bytes], dict[str, object] | None]

_HEADERS: Final = {"content-type": "application/json"}
# slack_sdk calls itself once more for each piece of a message that it receives: small
# pieces of a large one are more calls than Python allows.
_PIECE_BYTES: Final = 256 * 1024

log = structlog.get_logger(__name__)


class _CheckedClient(SocketModeClient):
    """Drops what slack_sdk would fail to read, and log with all that is in it."""

    def enqueue_message(self, message: str) -> None:
        try:
            json.dumps(json.loads(message) if message.startswith("{") else {})
        except (ValueError, RecursionError):
            log.warning("envelope_refused", kind="", reason="bad-payload")
            return
        super().enqueue_message(message)


class SocketMode:
    """A connection that is opened again whenever Slack ends it.

    Used as a context: entering connects, or raises a `ServiceError`; leaving ends at
    once. `take` is called from several threads. What it raises, and what it was in the
    middle of at the end, is not acknowledged: Slack sends it again.
    """

    def __init__(
        self,
        client: WebClient,
        app_token: SecretStr,
        take: TakeDelivery,
        clock: Clock,
        ping_interval_s: float = 5,
    ) -> None:
        self._client = client
        self._app_token = app_token
        self._take = take
        self._clock = clock
        self._ping_interval_s = ping_interval_s
        self._socket: SocketModeClient | None = None

    def __enter__(self) -> Self:
        opened = _CheckedClient(
            app_token=self._app_token.get_secret_value(),
            web_client=self._client,
            ping_interval=self._ping_interval_s,
            receive_buffer_size=_PIECE_BYTES,
        )
        opened.socket_mode_request_listeners.append(self._answer)
        try:
            self._connect(opened)
        except PatchwrightError:
            _close(opened)
            raise
        self._socket = opened
        return self

    def __exit__(self, *_: object) -> None:
        if self._socket is not None:
            _close(self._socket)
            self._socket = None

    def _connect(self, opened: SocketModeClient) -> None:
        with translate_errors(self._clock):
            opened.connect()
        if not opened.is_connected():
            # slack_sdk has logged why.
            raise ServiceUnavailableError("Slack did not accept the WebSocket")

    def _answer(self, client: BaseSocketModeClient, sent: SocketModeRequest) -> None:
        try:
            answer = self._take(_HEADERS, json.dumps(sent.payload).encode())
        except PatchwrightError as error:
            log.warning("envelope_refused", kind=sent.type, reason=error.reason)
            return
        payload = answer if sent.accepts_response_payload else None
        response = SocketModeResponse(sent.envelope_id, payload)
        try:
            client.send_socket_mode_response(response)
        except SlackClientNotConnectedError:
            log.info("envelope_not_acknowledged", kind=sent.type)


def _close(opened: SocketModeClient) -> None:
    """Close at once, where slack_sdk by itself waits for whatever comes next."""
    opened.closed = True
    opened.auto_reconnect_enabled = False
    # Wakes the thread that waits for messages.
    opened.message_queue.put(None)
    session = opened.current_session
    if session is not None and session.sock is not None:
        # Wakes the one that waits for bytes.
        with suppress(OSError):
            session.sock.shutdown(socket.SHUT_RDWR)
    opened.close()
