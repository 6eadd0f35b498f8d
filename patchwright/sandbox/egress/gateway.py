"""A running proxy, as the host sees it."""

from datetime import UTC, datetime
from itertools import count
from typing import Final

import structlog
from pydantic import BaseModel, JsonValue

from patchwright.core.errors import RuntimeLostError, SandboxError
from patchwright.core.events.types import RequestBlocked
from patchwright.core.types.ids import RandomIds
from patchwright.sandbox.connection import ServerConnection

START_S: Final = 30.0
ANSWER_S: Final = 5.0

log = structlog.get_logger()


class _RefusedRequest(BaseModel):
    """An entry of the proxy's list; `first_at` is in seconds since 1970."""

    host: str
    port: int
    count: int
    first_at: float
    why: str


class Gateway:
    """`meeting` is where the proxy waits for its sandbox, seen from inside that.

    Several workers may have the same proxy at the same time.
    """

    def __init__(self, connection: ServerConnection, meeting: str, role: str) -> None:
        self.meeting = meeting
        self._connection = connection
        self._role = role
        self._host = RandomIds().new()[:16]
        self._numbers = count(1)

    def greet(self) -> None:
        """Wait until the proxy answers; raise `SandboxError` if it does not."""
        try:
            self._refused(START_S)
        except RuntimeLostError as error:
            text = f"the proxy of the sandbox does not answer: {error}"
            raise SandboxError(text) from error

    def blocked(self) -> tuple[RequestBlocked, ...]:
        """Return what was refused so far; of a proxy that is gone nothing is known."""
        try:
            refused = self._refused(ANSWER_S)
        except RuntimeLostError as error:
            log.warning("blocked_requests_unknown", reason=str(error))
            return ()
        return tuple(_record(one, self._role) for one in refused)

    def close(self) -> None:
        """Let go of the proxy, which lives on."""
        self._connection.close()

    def _refused(self, timeout_s: float) -> list[_RefusedRequest]:
        name = f"{self._host}-{next(self._numbers)}"
        answer = self._connection.ask({"id": name}, timeout_s)
        entries: JsonValue = answer.get("refused")
        return [
            _RefusedRequest.model_validate(entry)
            for entry in (entries if isinstance(entries, list) else ())
        ]


def _record(refused: _RefusedRequest, role: str) -> RequestBlocked:
    return RequestBlocked(
        host=refused.host,
        port=refused.port,
        count=refused.count,
        first_at=datetime.fromtimestamp(refused.first_at, UTC),
        role=role,
        why=refused.why,
    )
