"""The protocol of a way to a server."""

from typing import Protocol

from mcp.client import Transport


class ServerLink(Protocol):
    """Carries the messages of one session, and knows why it broke."""

    def open_streams(self) -> Transport:
        """Return the streams of messages, for one use."""
        ...

    def error_text(self) -> str:
        """Return why the server cannot be spoken to; empty while it seems well."""
        ...

    @property
    def is_broken(self) -> bool:
        """Tell whether no message can pass any more, as far as is known."""
        ...

    def close(self) -> None:
        """End what the link has started; calling it twice is harmless."""
        ...
