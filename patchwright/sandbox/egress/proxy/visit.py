"""Serve one connection: read what it wants, judge it, carry bytes to and fro."""

from __future__ import annotations

import socket
import threading
from contextlib import suppress

from patchwright.sandbox.egress.proxy.gate import Gate
from patchwright.sandbox.egress.proxy.refusal import Refusal
from patchwright.sandbox.egress.proxy.request import Request, read_request

HEAD_S = 30.0
FAREWELL_S = 1.0
MAX_HEAD_BYTES = 64 << 10
CHUNK = 1 << 16

END_OF_HEAD = b"\r\n\r\n"
CONNECTED = b"HTTP/1.1 200 Connection established\r\n\r\n"


def serve(client: socket.socket, gate: Gate) -> None:
    with client, suppress(OSError):
        try:
            head, rest = _read_head(client)
            request = read_request(head)
            remote = gate.pass_through(request.target)
        except Refusal as refusal:
            gate.tally.note(refusal)
            _refuse(client, refusal)
            return
        with remote:
            _carry(client, remote, request, rest)


def _read_head(client: socket.socket) -> tuple[bytes, bytes]:
    """Return a request's head, and what has come after it."""
    client.settimeout(HEAD_S)
    data = b""
    while END_OF_HEAD not in data:
        if len(data) > MAX_HEAD_BYTES:
            raise Refusal.unclear("the head of the request is too long")
        chunk = client.recv(CHUNK)
        if not chunk:
            raise OSError("it has hung up")
        data += chunk
    client.settimeout(None)
    head, _, rest = data.partition(END_OF_HEAD)
    return head, rest


def _refuse(client: socket.socket, refusal: Refusal) -> None:
    """Answer, and wait until that was read: a reset would take the answer away."""
    client.sendall(refusal.answer())
    client.shutdown(socket.SHUT_WR)
    client.settimeout(FAREWELL_S)
    for _ in range(MAX_HEAD_BYTES):
        if not client.recv(CHUNK):
            return


def _carry(
    client: socket.socket, remote: socket.socket, request: Request, rest: bytes
) -> None:
    if request.is_tunnel:
        client.sendall(CONNECTED)
        remote.sendall(rest)
        left = None
    else:
        body = rest[: request.body_bytes]
        remote.sendall(request.head + body)
        left = request.body_bytes - len(body)
    there = threading.Thread(target=_pour, args=(client, remote, left), daemon=True)
    there.start()
    _pour(remote, client, None)
    _hang_up(client)
    there.join()


def _pour(source: socket.socket, sink: socket.socket, left: int | None) -> None:
    """Carry bytes until there are no more, or `left` have gone."""
    try:
        while left is None or left > 0:
            data = source.recv(CHUNK if left is None else min(CHUNK, left))
            if not data:
                sink.shutdown(socket.SHUT_WR)
                return
            sink.sendall(data)
            left = None if left is None else left - len(data)
    except OSError:
        # Either side is gone, and with it the reason to wait for the other.
        _hang_up(source)
        _hang_up(sink)


def _hang_up(connection: socket.socket) -> None:
    with suppress(OSError):
        connection.shutdown(socket.SHUT_RDWR)
