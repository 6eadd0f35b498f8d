"""Give the proxy outside a socket in here: the one way out of this network."""

from __future__ import annotations

import array
import socket

from patchwright.sandbox.action_server.failure import ActionError
from patchwright.sandbox.action_server.wire import Reply

ANSWER_S = 10.0
BACKLOG = 128
TAKEN = b"taken\n"

NO_PROXY = (
    "no socket could be handed to the sandbox's proxy, which a runtime such as gVisor "
    'does not let through; leave sandbox.runtime out, or set sandbox.network to "deny"'
)


def reach_out(meeting: str, port: int) -> Reply:
    """Listen on a port of this sandbox, and let the proxy answer there.

    The socket belongs to no process in here: nothing here can stop or replace it.
    """
    with socket.socket() as door:
        door.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        door.bind(("127.0.0.1", port))
        door.listen(BACKLOG)
        try:
            is_taken = _pass_socket(door, meeting)
        except OSError as error:
            raise ActionError("no-proxy", f"{NO_PROXY}: {error}") from error
    if not is_taken:
        raise ActionError("no-proxy", NO_PROXY)
    return {"kind": "ready"}


def _pass_socket(door: socket.socket, meeting: str) -> bool:
    with socket.socket(socket.AF_UNIX) as way:
        way.settimeout(ANSWER_S)
        way.connect(meeting)
        files = array.array("i", [door.fileno()])
        way.sendmsg([b"\n"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, files)])
        return way.recv(len(TAKEN)) == TAKEN
