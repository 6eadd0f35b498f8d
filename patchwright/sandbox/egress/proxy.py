"""Take the connections of the sandbox's programs, judge each, carry its bytes."""

from __future__ import annotations

import array
import json
import os
import socket
import sys
import threading
from contextlib import suppress
from functools import partial
from typing import Callable, NamedTuple

from patchwright.sandbox.egress.gate import Gate, RefusalCounter, resolve
from patchwright.sandbox.egress.proxy_request import (
    ProxyRefusal,
    ProxyRequest,
    read_request,
)
from patchwright.sandbox.egress.rules import HostRule
from patchwright.sandbox.egress.tls_hello import (
    ALERT,
    CANNOT_BE_READ,
    NOT_TLS,
    HelloError,
    hello_objection,
    is_address,
    is_tls,
    read_hello,
)

HEAD_S = 30.0
FAREWELL_S = 1.0
MAX_HEAD_BYTES = 64 << 10
CHUNK = 1 << 16
HTTPS_PORT = 443

END_OF_HEAD = b"\r\n\r\n"
CONNECTED = b"HTTP/1.1 200 Connection established\r\n\r\n"


def serve_connection(client: socket.socket, gate: Gate) -> None:
    with client, suppress(OSError):
        try:
            head, rest = _read_head(client)
            request = read_request(head)
            remote = gate.connect_to_target(request.target)
        except ProxyRefusal as refusal:
            gate.refusals.note(refusal)
            _refuse(client, refusal)
            return
        with remote:
            _forward(_ProxiedConnection(client, remote, gate, request), rest)


def _read_head(client: socket.socket) -> tuple[bytes, bytes]:
    """Return a request's head, and what has come after it."""
    client.settimeout(HEAD_S)
    data = b""
    while END_OF_HEAD not in data:
        if len(data) > MAX_HEAD_BYTES:
            raise ProxyRefusal.unclear("the head of the request is too long")
        chunk = client.recv(CHUNK)
        if not chunk:
            raise OSError("it closed the connection")
        data += chunk
    client.settimeout(None)
    head, _, rest = data.partition(END_OF_HEAD)
    return head, rest


def _refuse(client: socket.socket, refusal: ProxyRefusal) -> None:
    """Answer, and wait until that was read: a reset would take the answer away."""
    client.sendall(refusal.answer())
    client.shutdown(socket.SHUT_WR)
    client.settimeout(FAREWELL_S)
    for _ in range(MAX_HEAD_BYTES):
        if not client.recv(CHUNK):
            return


class _ProxiedConnection(NamedTuple):
    """A request that is let through, and the two ends of its way."""

    client: socket.socket
    remote: socket.socket
    gate: Gate
    request: ProxyRequest


def _forward(connection: _ProxiedConnection, rest: bytes) -> None:
    client, remote, request = connection.client, connection.remote, connection.request
    if request.is_tunnel:
        client.sendall(CONNECTED)
        go: Callable[[], None] = partial(_copy_judged_tunnel, connection, rest)
    else:
        body = rest[: request.body_bytes]
        remote.sendall(request.head + body)
        go = partial(_copy_bytes, client, remote, request.body_bytes - len(body))
    there = threading.Thread(target=go, daemon=True)
    there.start()
    _copy_bytes(remote, client, None)
    _hang_up(client)
    there.join()


def _copy_judged_tunnel(connection: _ProxiedConnection, rest: bytes) -> None:
    """Carry what goes through a tunnel, once its greeting in TLS names the host.

    What the other side says first, as ssh does, does not wait for that.
    """
    try:
        greeting = _read_greeting(connection, rest)
        connection.remote.sendall(greeting)
    except ProxyRefusal as refusal:
        connection.gate.refusals.note(refusal)
        with suppress(OSError):
            connection.client.sendall(ALERT)
    except OSError:
        pass
    else:
        _copy_bytes(connection.client, connection.remote, None)
        return
    _hang_up(connection.client)
    _hang_up(connection.remote)


def _read_greeting(connection: _ProxiedConnection, data: bytes) -> bytes:
    """Return what was sent first; raise `Refusal` where it is for another host.

    Where everything public is open, there is no other host to hide behind.
    """
    target = connection.request.target
    if connection.gate.opens_public or is_address(target.host):
        return data
    try:
        return _judge_greeting(connection, data)
    except HelloError as error:
        raise ProxyRefusal.blocked(target.host, target.port, CANNOT_BE_READ) from error


def _judge_greeting(connection: _ProxiedConnection, data: bytes) -> bytes:
    target = connection.request.target
    while True:
        if data and not is_tls(data):
            if target.port == HTTPS_PORT:
                raise ProxyRefusal.blocked(target.host, target.port, NOT_TLS)
            return data
        hello = read_hello(data)
        if hello is not None:
            why = hello_objection(hello, target.host)
            if why:
                raise ProxyRefusal.blocked(target.host, target.port, why)
            return data
        chunk = connection.client.recv(CHUNK)
        if not chunk:
            # With nothing said it only listens; half a greeting goes nowhere.
            return b""
        data += chunk


def _copy_bytes(source: socket.socket, sink: socket.socket, left: int | None) -> None:
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


# Each takes two threads, and the engine counts threads.
MAX_VISITS = 100
TAKEN = b"taken\n"


def open_meeting(path: str) -> socket.socket:
    """Return the socket at which the sandbox's server calls."""
    meeting = socket.socket(socket.AF_UNIX)
    meeting.bind(path)
    meeting.listen(1)
    return meeting


def receive_listener(meeting: socket.socket, path: str) -> socket.socket:
    """Return the listening socket that the sandbox's server hands over, once.

    It was made in the sandbox's network, where it stays: there it is the one way out.
    https://man7.org/linux/man-pages/man7/unix.7.html
    """
    with meeting:
        caller, _ = meeting.accept()
    # Whatever else runs in the sandbox finds nobody here.
    os.unlink(path)
    with caller:
        server_socket = _receive(caller)
        caller.sendall(TAKEN)
    return server_socket


def _receive(caller: socket.socket) -> socket.socket:
    files = array.array("i")
    _, ancillary, _, _ = caller.recvmsg(1, socket.CMSG_SPACE(files.itemsize))
    for level, kind, data in ancillary:
        if (level, kind) == (socket.SOL_SOCKET, socket.SCM_RIGHTS):
            files.frombytes(data[: files.itemsize])
    return socket.socket(fileno=files[0])


def accept_connections(server_socket: socket.socket, gate: Gate) -> None:
    """Serve whoever calls, a bounded number at a time."""
    free = threading.BoundedSemaphore(MAX_VISITS)

    def handle(client: socket.socket) -> None:
        try:
            serve_connection(client, gate)
        finally:
            free.release()

    while True:
        free.acquire()
        client, _ = server_socket.accept()
        threading.Thread(target=handle, args=(client,), daemon=True).start()


class ProxySettings(NamedTuple):
    """The proxy's one command line argument, as JSON."""

    meeting: str
    lifetime_s: float
    rules: list[HostRule]
    opens_public: bool
    own: list[str]


def main() -> None:
    settings = _read_settings(sys.argv[1])
    _in_background(threading.Timer(settings.lifetime_s, os._exit, (0,)))
    gate = Gate(
        settings.rules,
        RefusalCounter(),
        resolve,
        opens_public=settings.opens_public,
        own=frozenset(settings.own),
    )
    # Before anything is answered: then the sandbox may call.
    meeting = open_meeting(settings.meeting)
    _in_background(
        threading.Thread(
            target=lambda: accept_connections(
                receive_listener(meeting, settings.meeting), gate
            ),
        )
    )
    for line in sys.stdin:
        _answer(line, gate.refusals)
    # Whoever has started it is gone for good: an engine keeps this open.
    os._exit(0)


def _read_settings(text: str) -> ProxySettings:
    read = json.loads(text)
    rules = [HostRule(*rule) for rule in read["rules"]]
    return ProxySettings(**{**read, "rules": rules})


def _answer(line: str, counter: RefusalCounter) -> None:
    """Answer the host; what a worker left half written when it died is no question."""
    try:
        question = json.loads(line)
        name = question["id"]
    except (ValueError, KeyError, TypeError):
        return
    answer = {"id": name, "result": {"kind": "tally", "refused": counter.counted()}}
    sys.stdout.write(json.dumps(answer) + "\n")
    sys.stdout.flush()


def _in_background(thread: threading.Thread) -> None:
    thread.daemon = True
    thread.start()
