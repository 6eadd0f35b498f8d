"""Serve the set-up pages, and nothing else, for as long as they are needed."""

import socket

from patchwright.workers.web.server import make_server
from patchwright.workers.web.setup.app import SetupPages, create_setup_app


def serve_setup(site: SetupPages, listening: socket.socket) -> None:
    """Return when there is an App; the socket stays open for who serves next."""

    def leave() -> None:
        server.should_exit = True

    host, port = listening.getsockname()[:2]
    server = make_server(create_setup_app(site, leave), host, port)
    # The server closes what it is given.
    server.run(sockets=[listening.dup()])
