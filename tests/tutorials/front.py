"""The servers of the world, by their names: one door with TLS that leads to each."""

import contextlib
import socket
import ssl
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from socketserver import BaseRequestHandler, ThreadingTCPServer

from tests.fakes.tls import Authority, exchange
from tests.provision.errors import ProvisionError

Address = tuple[str, int]
# Makes a connection to a place.
Way = Callable[[], socket.socket]
TLS_PORT = 443


def plain(address: Address) -> Way:
    return lambda: socket.create_connection(address)


def secure(address: Address, name: str, authority: Authority) -> Way:
    """Lead to a place that speaks TLS itself, and has a certificate for that name."""

    def connect() -> socket.socket:
        context = ssl.create_default_context(cafile=str(authority.bundle))
        return context.wrap_socket(
            socket.create_connection(address), server_hostname=name
        )

    return connect


@contextmanager
def door(
    places: Mapping[str, Way], authority: Authority, address: Address
) -> Iterator[Address]:
    """Bring who asks for a name to its place; `places` may change meanwhile."""

    class Visitor(BaseRequestHandler):
        def handle(self) -> None:
            # A client that does not trust us hangs up in the middle.
            with contextlib.suppress(OSError):
                _lead(self.request, places, authority)

    with _listening(address, Visitor) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        try:
            host, port = server.server_address[:2]
            yield str(host), port
        finally:
            server.shutdown()
            thread.join()


class _Door(ThreadingTCPServer):
    allow_reuse_address = True
    daemon_threads = True
    # A connection that a client keeps must not keep the door from closing.
    block_on_close = False


def _listening(address: Address, visitor: type[BaseRequestHandler]) -> _Door:
    try:
        return _Door(address, visitor)
    except PermissionError as error:
        problem = f"only root may listen at {address[0]}, port {address[1]}: {error}"
        raise ProvisionError(problem) from error


def _lead(
    client: socket.socket, places: Mapping[str, Way], authority: Authority
) -> None:
    asked: list[str] = []
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(authority.certificate, authority.key)
    context.sni_callback = lambda _, name, __: asked.append(name or "")
    with context.wrap_socket(client, server_side=True) as near:
        way = places.get(asked[-1] if asked else "")
        if way is None:
            return
        with way() as far:
            exchange(near, far)
