"""A forge that answers a renewal by drips keeps nobody waiting for it."""

import socketserver
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

import pytest
from pydantic import SecretStr

from patchwright.core.system.clock import SystemClock
from patchwright.core.types.errors import ServiceUnavailableError
from patchwright.integrations.github.connection import Addresses, GitHubConnection
from patchwright.integrations.github.sign_in import RENEWAL_S, UserTokens
from patchwright.workers.store.identity_tokens import LONGEST_RENEWAL

DRIPS = 60
EVERY_S = 0.05
PARTS = {
    "headers": b"HTTP/1.1 200 OK\r\nX-Slow: ",
    "body": b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n",
}


class _Dripping(socketserver.BaseRequestHandler):
    """Sends the beginning of an answer, then one byte at a time."""

    begun = b""
    has_ended: threading.Event

    def handle(self) -> None:
        self.request.recv(65_536)
        self.request.sendall(self.begun)
        for _ in range(DRIPS):
            if self.has_ended.wait(EVERY_S):
                return
            try:
                self.request.sendall(b"x")
            except OSError:
                return


@contextmanager
def _forge(begun: bytes) -> Iterator[str]:
    has_ended = threading.Event()
    facts = {"begun": begun, "has_ended": has_ended}
    handler = type("Handler", (_Dripping,), facts)
    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        try:
            yield f"http://127.0.0.1:{server.server_address[1]}"
        finally:
            has_ended.set()
            server.shutdown()


@pytest.mark.parametrize("part", PARTS)
def test_a_renewal_that_comes_by_drips_is_not_waited_for(part: str) -> None:
    with _forge(PARTS[part]) as url:
        usual = UserTokens(
            GitHubConnection(Addresses(api_url=url, web_url=url)),
            "client",
            SecretStr("secret"),
            SystemClock(),
        )
        tokens = replace(usual, renewal_s=0.5)
        begun = time.monotonic()
        with pytest.raises(
            ServiceUnavailableError, match=r"did not renew the token within 0\.5 s"
        ):
            tokens.renew(SecretStr("old"))
        assert time.monotonic() - begun < DRIPS * EVERY_S


def test_a_renewal_ends_before_another_process_takes_it_over() -> None:
    assert LONGEST_RENEWAL.total_seconds() > RENEWAL_S
