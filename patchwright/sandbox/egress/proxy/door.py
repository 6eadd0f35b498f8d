"""The socket at which the sandbox's programs call; it belongs to the sandbox."""

from __future__ import annotations

import array
import os
import socket
import threading

from patchwright.sandbox.egress.proxy.gate import Gate
from patchwright.sandbox.egress.proxy.visit import serve_connection

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
        door = _receive(caller)
        caller.sendall(TAKEN)
    return door


def _receive(caller: socket.socket) -> socket.socket:
    files = array.array("i")
    _, ancillary, _, _ = caller.recvmsg(1, socket.CMSG_SPACE(files.itemsize))
    for level, kind, data in ancillary:
        if (level, kind) == (socket.SOL_SOCKET, socket.SCM_RIGHTS):
            files.frombytes(data[: files.itemsize])
    return socket.socket(fileno=files[0])


def accept_connections(door: socket.socket, gate: Gate) -> None:
    """Serve whoever calls, a bounded number at a time."""
    free = threading.BoundedSemaphore(MAX_VISITS)

    def visit(client: socket.socket) -> None:
        try:
            serve_connection(client, gate)
        finally:
            free.release()

    while True:
        free.acquire()
        client, _ = door.accept()
        threading.Thread(target=visit, args=(client,), daemon=True).start()
