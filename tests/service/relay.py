"""A line to a server that can be cut: who used it finds nobody at the other end."""

import contextlib
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

_SIZE = 65_536


@dataclass
class Relay:
    """Hands on bytes both ways between its port and another one, until it is cut."""

    target: tuple[str, int]
    listener: socket.socket
    _open: list[socket.socket] = field(default_factory=list)
    _is_cut: bool = False
    _guard: threading.Lock = field(default_factory=threading.Lock)

    @property
    def port(self) -> int:
        port: int = self.listener.getsockname()[1]
        return port

    def cut(self) -> None:
        """End what is open, and refuse whoever comes."""
        with self._guard:
            self._is_cut = True
            for one in self._open:
                with contextlib.suppress(OSError):
                    one.shutdown(socket.SHUT_RDWR)
            self._open.clear()

    def mend(self) -> None:
        with self._guard:
            self._is_cut = False

    def serve(self) -> None:
        while True:
            try:
                near, _ = self.listener.accept()
            except OSError:
                return
            with self._guard:
                if self._is_cut:
                    near.close()
                    continue
                far = socket.create_connection(self.target)
                self._open += [near, far]
            threading.Thread(target=_join, args=(near, far), daemon=True).start()


def _join(near: socket.socket, far: socket.socket) -> None:
    back = threading.Thread(target=_hand_on, args=(far, near), daemon=True)
    with near, far:
        back.start()
        _hand_on(near, far)
        back.join()


def _hand_on(come: socket.socket, go: socket.socket) -> None:
    with contextlib.suppress(OSError):
        while data := come.recv(_SIZE):
            go.sendall(data)
    for one in (come, go):
        with contextlib.suppress(OSError):
            one.shutdown(socket.SHUT_RDWR)


@contextmanager
def relay(host: str, port: int) -> Iterator[Relay]:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        made = Relay((host, port), listener)
        thread = threading.Thread(target=made.serve, daemon=True)
        thread.start()
        try:
            yield made
        finally:
            made.cut()
            # A listening socket that is only closed goes on being waited on.
            listener.shutdown(socket.SHUT_RDWR)
            thread.join()
