"""Put lines together again from a stream of bytes."""

from __future__ import annotations


class LineBuffer:
    """Takes bytes as they come; `waiting_bytes` belong to a line without its end."""

    def __init__(self) -> None:
        self._parts: list[bytes] = []
        self.waiting_bytes = 0

    def feed(self, data: bytes) -> list[bytes]:
        """Return the lines that are complete by now."""
        first, *others = data.split(b"\n")
        self._parts.append(first)
        if not others:
            self.waiting_bytes += len(first)
            return []
        lines = [b"".join(self._parts), *others[:-1]]
        self._parts = [others[-1]]
        self.waiting_bytes = len(others[-1])
        return lines

    def rest(self) -> bytes:
        return b"".join(self._parts)
