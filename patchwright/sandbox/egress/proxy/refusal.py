"""What is said to a program whose request is not let through."""

from __future__ import annotations

MAX_SHOWN_CHARS = 100
BAD_REQUEST = "400 Bad Request"
BAD_GATEWAY = "502 Bad Gateway"
FORBIDDEN = "403 Blocked by the sandbox"


class ProxyRefusal(Exception):  # noqa: N818 - a refusal is no error of ours
    """A request is not let through; `is_counted` says that people hear of it."""

    def __init__(
        self, status: str, text: str, host: str, port: int, *, is_counted: bool = True
    ) -> None:
        super().__init__(text)
        self.status = status
        self.text = text
        self.host = host
        self.port = port
        self.is_counted = is_counted

    @classmethod
    def unclear(cls, text: str, host: str = "") -> ProxyRefusal:
        """Refuse what cannot be read in one way only; port 0 is one that is not known.

        Without a host it is no attempt to get anywhere.
        """
        return cls(BAD_REQUEST, text, shown(host), 0, is_counted=bool(host))

    @classmethod
    def blocked(cls, host: str, port: int, why: str) -> ProxyRefusal:
        return cls(FORBIDDEN, f"{host}:{port} {why}", host, port)

    @classmethod
    def unreachable(cls, host: str, port: int, why: str) -> ProxyRefusal:
        """Say that an allowed host could not be had."""
        text = f"{host}:{port} cannot be reached: {why}"
        return cls(BAD_GATEWAY, text, host, port, is_counted=False)

    def answer(self) -> bytes:
        """Return the response. Many programs show its first line and nothing else."""
        line = f"{self.status}: {self.text}" if self.is_counted else self.status
        body = f"Patchwright: {self.text}\n".encode("ascii", "replace")
        head = (
            f"HTTP/1.1 {line}\r\nContent-Type: text/plain\r\n"
            f"Content-Length: {len(body)}\r\nConnection: close\r\n\r\n"
        )
        return head.encode("ascii", "replace") + body


def shown(text: str) -> str:
    """Return a host as it was written, without what might disturb its reader."""
    return "".join(
        letter if letter.isascii() and letter.isprintable() else "?"
        for letter in text[:MAX_SHOWN_CHARS]
    )
