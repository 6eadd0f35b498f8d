"""The standard input and output of a container, attached to."""

import socket
from contextlib import suppress

import docker

from patchwright.sandbox.docker.frames import Demultiplexer

CHUNK = 1 << 16
LAST_WORDS = 4000


class ContainerStream:
    """See `connection.Stream`. Closing it leaves the container as it is."""

    def __init__(self, api: docker.APIClient, container: str) -> None:
        params = {"stdin": 1, "stdout": 1, "stderr": 1, "stream": 1}
        self._wrapper = api.attach_socket(container, params=params)
        self._socket: socket.socket = getattr(self._wrapper, "_sock", self._wrapper)
        # The client's own limit would cut off a command that is silent for a while.
        self._socket.settimeout(None)
        self._frames = Demultiplexer()
        self._words = b""

    def read(self) -> bytes:
        while data := self._socket.recv(CHUNK):
            outputs = self._frames.feed(data)
            self._words = (self._words + outputs.stderr)[-LAST_WORDS:]
            if outputs.stdout:
                return outputs.stdout
        return b""

    def write(self, data: bytes) -> None:
        self._socket.sendall(data)

    def last_words(self) -> str:
        return self._words.decode(errors="replace")

    def close(self) -> None:
        """Wake up a reader and let go; harmless when the engine did it before."""
        with suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)
        self._wrapper.close()
        self._socket.close()
