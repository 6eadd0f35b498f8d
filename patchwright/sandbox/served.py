"""A runtime: an action server in some sandbox, and how to remove that sandbox."""

import base64
from collections.abc import Callable
from itertools import count
from typing import Annotated

from pydantic import Field, TypeAdapter

from patchwright.core.errors import SandboxError
from patchwright.core.events.types import (
    ControlCommand,
    RunCommand,
    SandboxAction,
    SandboxObservation,
)
from patchwright.sandbox.connection import Connection, JsonObject

CHUNK = 1 << 20
START_S = 30.0
ANSWER_S = 60.0

_OBSERVATION: TypeAdapter[SandboxObservation] = TypeAdapter(
    Annotated[SandboxObservation, Field(discriminator="kind")]
)


class ServedRuntime:
    """Passes actions to the server; see `core.runtime.Runtime`.

    A command has its own time limit, which the server keeps; here only a server that
    is silent for much longer than that counts as lost.
    """

    def __init__(
        self,
        *,
        kind: str,
        connection: Connection,
        command_timeout_s: float,
        remove: Callable[[], None],
    ) -> None:
        self.kind = kind
        self._connection = connection
        self._command_timeout_s = command_timeout_s
        self._remove = remove
        self._numbers = count(1)

    def greet(self) -> None:
        """Wait until the server answers; raise `RuntimeLostError` if it does not."""
        self._ask("hello", {}, START_S)

    def run(self, action: SandboxAction, action_id: str) -> SandboxObservation:
        question: JsonObject = action.model_dump(mode="json", exclude={"kind"})
        question |= {"id": action_id, "op": action.kind}
        answer = self._connection.ask(question, self._patience_s(action))
        return _OBSERVATION.validate_python({**answer, "call_id": action.call_id})

    def upload(self, path: str, data: bytes) -> None:
        for offset in range(0, max(len(data), 1), CHUNK):
            piece = base64.b64encode(data[offset : offset + CHUNK]).decode()
            fields: JsonObject = {"path": path, "offset": offset, "data": piece}
            self._ask("upload", fields, ANSWER_S)

    def download(self, path: str, max_bytes: int) -> bytes:
        data = bytearray()
        while True:
            fields: JsonObject = {"path": path, "offset": len(data)}
            answer = self._ask("download", fields, ANSWER_S)
            size = int(str(answer["size"]))
            if size > max_bytes:
                text = f"{path} has {size} bytes; at most {max_bytes} are allowed"
                raise SandboxError(text)
            data += base64.b64decode(str(answer["data"]))
            if len(data) >= size:
                return bytes(data)

    def close(self) -> None:
        self._connection.close()
        self._remove()

    def _patience_s(self, action: SandboxAction) -> float:
        limit_s: float | None = None
        if isinstance(action, RunCommand | ControlCommand):
            limit_s = action.timeout_s
        return ANSWER_S + (self._command_timeout_s if limit_s is None else limit_s)

    def _ask(self, op: str, fields: JsonObject, timeout_s: float) -> JsonObject:
        name = f"{op}-{next(self._numbers)}"
        answer = self._connection.ask({**fields, "id": name, "op": op}, timeout_s)
        if answer.get("kind") == "error":
            raise SandboxError(f"{op} failed in the sandbox: {answer.get('text')}")
        return answer
