"""The web server, with limits on connections and on how long one may wait."""

import asyncio
import resource
import socket
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Final, cast

import h11
import uvicorn
from fastapi import FastAPI
from uvicorn.config import Config
from uvicorn.protocols.http.h11_impl import H11Protocol
from uvicorn.server import ServerState

from patchwright.core.settings.fields import is_in_networks
from patchwright.workers.web.body import BODY_S

# For the headers, and then once more for the body. A little more than a body has, so
# that its reader can say that it was too slow.
WAIT_S: Final = BODY_S + 2
MOST_CONNECTIONS: Final = 2048
# Who has just come may have said all that there is to say, and nobody has looked yet:
# for a moment there may be twice as many.
GRACE_S: Final = 0.5
_IN_A_BURST: Final = 2
# Of the files that a process may open, those that are no connections: database, logs,
# and what the jobs of a process need that runs them too.
_OTHER_FILES: Final = 512
_FEWEST: Final = 64
# More than enough; some programs that a job starts look at each file they could have.
_ENOUGH_FILES: Final = 8192
# Of all connections, one part of so many for one address that is no proxy.
_SHARE_OF_ONE: Final = 2
_TICKS_A_SECOND: Final = 10
_BUSY_RESPONSE: Final = (
    b"HTTP/1.1 503 Service Unavailable\r\nRetry-After: 5\r\n"
    b"Content-Length: 0\r\nConnection: close\r\n\r\n"
)


def raise_file_limit() -> int:
    """Let this process open as many files as it may; return how many that are.

    What is set for a login is mostly 1024, although far more are allowed.
    """
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    most = _ENOUGH_FILES if hard == resource.RLIM_INFINITY else hard
    wanted = min(most, _ENOUGH_FILES)
    if soft == resource.RLIM_INFINITY or soft >= wanted:
        return _ENOUGH_FILES if soft == resource.RLIM_INFINITY else soft
    resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
    return wanted


def most_connections(files: int) -> int:
    """Return how many connections leave enough files for everything else."""
    spare = (files - _OTHER_FILES) // _IN_A_BURST
    return max(_FEWEST, min(MOST_CONNECTIONS, spare))


@dataclass(eq=False)
class OpenConnection:
    """One connection, and since when we wait for its sender, if we do."""

    peer: str
    cut: Callable[[], None]
    waits_since: float | None = None


class Connections:
    """All that are open; those that wait are in the order in which they began to."""

    def __init__(
        self,
        most: int,
        monotonic: Callable[[], float],
        is_proxy: Callable[[str], bool] = lambda _peer: False,
    ) -> None:
        self._most, self._monotonic, self._is_proxy = most, monotonic, is_proxy
        self._most_of_one = max(1, most // _SHARE_OF_ONE)
        self._open: dict[OpenConnection, None] = {}
        self._waiting: dict[OpenConnection, None] = {}
        self._peers: Counter[str] = Counter()

    def __len__(self) -> int:
        return len(self._open)

    def admit(self, new: OpenConnection) -> bool:
        """Count a connection, cutting off others where there are too many.

        False if there is nobody to cut off, and this one has to come again.
        """
        peer = new.peer if self._is_crowding(new.peer) else None
        if peer or len(self._open) >= self._most:
            # More than one comes, so that a burst comes to its end.
            for _ in range(_IN_A_BURST):
                self._cut_oldest(peer)
            if len(self._open) >= _IN_A_BURST * self._most:
                return False
        self._open[new] = None
        self._peers[new.peer] += 1
        self.wait(new)
        return True

    def wait(self, connection: OpenConnection) -> None:
        """Note that the sender has to say something from now on."""
        self.go_on(connection)
        if connection in self._open:
            connection.waits_since = self._monotonic()
            self._waiting[connection] = None

    def go_on(self, connection: OpenConnection) -> None:
        """Note that the sender has said all that there is to say."""
        connection.waits_since = None
        self._waiting.pop(connection, None)

    def forget(self, connection: OpenConnection) -> None:
        self.go_on(connection)
        if connection not in self._open:
            return
        del self._open[connection]
        self._peers[connection.peer] -= 1
        if not self._peers[connection.peer]:
            del self._peers[connection.peer]

    def sweep(self) -> None:
        """Cut off those that have waited for too long."""
        before = self._monotonic() - WAIT_S
        for one in list(self._waiting):
            if one.waits_since is None or one.waits_since > before:
                return
            self._cut(one)

    def _is_crowding(self, peer: str) -> bool:
        return self._peers[peer] >= self._most_of_one and not self._is_proxy(peer)

    def _cut_oldest(self, peer: str | None) -> None:
        of_peer = (one for one in self._waiting if peer in (None, one.peer))
        oldest = next(of_peer, None)
        before = self._monotonic() - GRACE_S
        if oldest and oldest.waits_since is not None and oldest.waits_since <= before:
            self._cut(oldest)

    def _cut(self, connection: OpenConnection) -> None:
        self.forget(connection)
        connection.cut()


class TimedProtocol(H11Protocol):
    """Uvicorn's protocol, whose connections are counted and do not wait for ever."""

    def __init__(
        self,
        connections: Connections,
        config: Config,
        server_state: ServerState,
        app_state: dict[str, Any],
        _loop: asyncio.AbstractEventLoop | None = None,
    ) -> None:
        super().__init__(config, server_state, app_state, _loop)
        self._all = connections
        self._own: OpenConnection | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        made = cast("asyncio.Transport", transport)
        super().connection_made(made)
        peer = self.client[0] if self.client else ""
        own = OpenConnection(peer, made.abort)
        if self._all.admit(own):
            self._own = own
            return
        made.write(_BUSY_RESPONSE)
        made.close()

    def connection_lost(self, exc: Exception | None) -> None:
        if self._own is not None:
            self._all.forget(self._own)
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        if self._own is not None:
            super().data_received(data)

    def handle_events(self) -> None:
        before = self.conn.their_state
        super().handle_events()
        self._note(before)

    def handle_websocket_upgrade(self, event: h11.Request) -> None:
        if self._own is not None:
            self._all.forget(self._own)
            self._own = None
        super().handle_websocket_upgrade(event)

    def on_response_complete(self) -> None:
        super().on_response_complete()
        is_leaving = self.transport.is_closing()
        if self._own and (is_leaving or self.conn.their_state is h11.IDLE):
            self._all.wait(self._own)

    def shutdown(self) -> None:
        """End after the answer; who has only just come may still ask."""
        if self.cycle is None:
            self.loop.call_later(GRACE_S, self._end)
        else:
            super().shutdown()

    def _end(self) -> None:
        if not self.transport.is_closing():
            super().shutdown()

    def pause_writing(self) -> None:
        """Begin to wait for somebody who asks and does not read."""
        super().pause_writing()
        if self._own:
            self._all.wait(self._own)

    def resume_writing(self) -> None:
        super().resume_writing()
        if self._own and self.conn.their_state in (h11.DONE, h11.MUST_CLOSE):
            self._all.go_on(self._own)

    def _note(self, before: object) -> None:
        """Restart the time limit when the sender has completed a part."""
        after = self.conn.their_state
        if self._own is None or after is before:
            return
        if after in (h11.IDLE, h11.SEND_BODY):
            self._all.wait(self._own)
        else:
            self._all.go_on(self._own)


class TimedServer(uvicorn.Server):
    """Uvicorn's server, which looks once a second for who has waited too long."""

    def __init__(self, config: Config, connections: Connections) -> None:
        super().__init__(config)
        self._all = connections

    async def on_tick(self, counter: int) -> bool:
        if counter % _TICKS_A_SECOND == 0:
            self._all.sweep()
        return await super().on_tick(counter)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Let in who stands at the door before it is closed.

        The kernel has told them that they are connected: a proxy does not try again
        elsewhere what it has begun to ask here.
        """
        loop = asyncio.get_running_loop()
        for listener in sockets or ():
            while connected := _accept(listener):
                await loop.connect_accepted_socket(self._make_protocol, connected)
        await super().shutdown(sockets)

    def _make_protocol(self) -> asyncio.Protocol:
        # As uvicorn makes them for its own listeners, in a function inside of `startup`
        # that it hands to nobody.
        make = cast("Callable[..., TimedProtocol]", self.config.http_protocol_class)
        return make(
            config=self.config,
            server_state=self.server_state,
            app_state=self.lifespan.state,
        )


def _accept(listener: socket.socket) -> socket.socket | None:
    try:
        return listener.accept()[0]
    except OSError:
        # Nobody waits, or who did has gone.
        return None


# Who opens a socket only reads from it.
_MOST_SOCKET_BYTES: Final = 4096
# The sender of a webhook waits ten seconds; a process supervisor usually thirty.
_SHUTDOWN_S: Final = 15


def make_server(
    app: FastAPI,
    host: str,
    port: int,
    *,
    proxies: Sequence[str] = (),
    monotonic: Callable[[], float] = time.monotonic,
) -> uvicorn.Server:
    """Return a server; its `run` ends at SIGTERM or SIGINT, with everything stored.

    Only the `proxies`, addresses or networks, are believed when they say for whom they
    ask.
    """
    connections = Connections(
        most_connections(raise_file_limit()),
        monotonic,
        partial(is_in_networks, tuple(proxies)),
    )
    # Uvicorn calls it with the arguments of its own protocols.
    protocol = cast("type[TimedProtocol]", partial(TimedProtocol, connections))
    config = uvicorn.Config(
        app,
        host=host,
        port=port,
        http=protocol,
        # A connection that becomes one of these is not counted any more: the API
        # counts those that it lets in.
        ws="websockets-sansio",
        ws_max_size=_MOST_SOCKET_BYTES,
        ws_per_message_deflate=False,
        forwarded_allow_ips=list(proxies),
        lifespan="on",
        access_log=False,
        log_config=None,
        server_header=False,
        timeout_graceful_shutdown=_SHUTDOWN_S,
    )
    return TimedServer(config, connections)
