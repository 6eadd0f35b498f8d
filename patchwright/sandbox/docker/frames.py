"""Take apart the stream in which Docker sends a container's two outputs."""

from typing import NamedTuple

# https://docs.docker.com/reference/api/engine/version/v1.41/#tag/Container/operation/ContainerAttach
HEADER = 8
STDERR = 2


class Outputs(NamedTuple):
    stdout: bytes
    stderr: bytes


class Demultiplexer:
    """Frames of `[kind, 0, 0, 0, size (4 bytes)]` and data, cut anywhere."""

    def __init__(self) -> None:
        self._rest = b""

    def feed(self, data: bytes) -> Outputs:
        parts: dict[bool, list[bytes]] = {True: [], False: []}
        data = self._rest + data
        start = 0
        while len(data) - start >= HEADER:
            end = start + HEADER + int.from_bytes(data[start + 4 : start + 8])
            if len(data) < end:
                break
            parts[data[start] == STDERR].append(data[start + HEADER : end])
            start = end
        self._rest = data[start:]
        return Outputs(b"".join(parts[False]), b"".join(parts[True]))
