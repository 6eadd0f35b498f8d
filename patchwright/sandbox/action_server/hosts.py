"""Which worker may give orders: the one that came last."""

from __future__ import annotations

from patchwright.sandbox.action_server.wire import ServerRequest, error

TAKEN_OVER = error("taken-over", "another worker has taken over this sandbox")


class HostRegistry:
    """Knows workers by the name they put on their requests.

    A worker that was taken for dead may only be slow; from the moment another one has
    said hello, nothing is carried out for it any more.
    """

    def __init__(self) -> None:
        self._seen: set[str] = set()
        self._current = ""

    def welcome(self, request: ServerRequest) -> bool:
        """Return whether a new worker has taken over."""
        name = request.text("host", "")
        if name in self._seen:
            return False
        self._seen.add(name)
        self._current = name
        return True

    def is_current(self, request: ServerRequest) -> bool:
        return request.text("host", "") == self._current
