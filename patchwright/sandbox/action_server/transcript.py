"""Keep the beginning and the end of a text of any length."""

from __future__ import annotations

HEAD_CHARACTERS = 5000
TAIL_CHARACTERS = 5000


class Transcript:
    """Holds at most head and tail; counts the bytes that fell out between them."""

    def __init__(self) -> None:
        self._head = ""
        self._tail = ""
        self.dropped_bytes = 0

    def add(self, text: str) -> None:
        room = HEAD_CHARACTERS - len(self._head)
        if room:
            self._head += text[:room]
            text = text[room:]
        self._tail += text
        if len(self._tail) > TAIL_CHARACTERS:
            dropped = self._tail[:-TAIL_CHARACTERS]
            self.dropped_bytes += len(dropped.encode())
            self._tail = self._tail[-TAIL_CHARACTERS:]

    def text(self) -> str:
        if not self.dropped_bytes:
            return self._head + self._tail
        gap = f"\n[... {self.dropped_bytes} bytes left out ...]\n"
        return self._head + gap + self._tail

    def tail(self) -> str:
        return self._tail or self._head
