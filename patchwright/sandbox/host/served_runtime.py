"""A runtime: an action server in some sandbox, and how to remove that sandbox."""

import base64
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import count
from typing import Annotated

from pydantic import Field, NonNegativeInt, TypeAdapter

from patchwright.core.events import types as ev
from patchwright.core.runtime import LargeFiles
from patchwright.core.types.base import RandomIds
from patchwright.core.types.errors import RuntimeLostError, SandboxError
from patchwright.sandbox.action_server.protocol import TAKEN_OVER
from patchwright.sandbox.host.gateway import PORT, Gateway
from patchwright.sandbox.host.server_connection import (
    JsonObject,
    ServedPipe,
    ServerConnection,
)

CHUNK = 1 << 20
START_S = 30.0
ANSWER_S = 60.0
TAKE_OVER_S = 5.0

_OBSERVATION: TypeAdapter[ev.SandboxObservation] = TypeAdapter(
    Annotated[ev.SandboxObservation, Field(discriminator="kind")]
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
        connection: ServerConnection,
        command_timeout_s: float,
        remove: Callable[[], None],
        leave: Callable[[], None],
        large_files: LargeFiles | None = None,
    ) -> None:
        self.kind = kind
        self.large_files = large_files
        self._connection = connection
        self._command_timeout_s = command_timeout_s
        self._remove = remove
        self._leave = leave
        self._gateway: Gateway | None = None
        # Tells this worker from any other that the sandbox has had or will have.
        self._host = RandomIds().new()[:16]
        self._numbers = count(1)

    def greet(self) -> None:
        """Wait until the server answers; raise `RuntimeLostError` if it does not."""
        self._ask("hello", {}, START_S)

    def take_over(self) -> None:
        """Greet a server that another worker has had until now."""
        self._connection.resynchronise()
        self._ask("hello", {}, TAKE_OVER_S)

    def reach_out(self, gateway: Gateway) -> None:
        """Open the way to a proxy, for what is started from now on."""
        self.use_gateway(gateway)
        fields: JsonObject = {"meeting": gateway.meeting, "port": PORT}
        self._ask("reach_out", fields, START_S)

    def use_gateway(self, gateway: Gateway) -> None:
        """Take the proxy to which the way is open already."""
        self._gateway = gateway

    def run(self, action: ev.SandboxAction, action_id: str) -> ev.SandboxObservation:
        question: JsonObject = action.model_dump(mode="json", exclude={"kind"})
        question |= {"id": action_id, "op": action.kind}
        answer = self._ask_server(question, self._answer_limit_s(action))
        with _valid_answers(action.kind):
            return _OBSERVATION.validate_python({**answer, "call_id": action.call_id})

    def cancel(self, action_id: str) -> None:
        self._ask("cancel", {"target": action_id}, ANSWER_S)

    def open_pipe(self, command: Sequence[str]) -> ServedPipe:
        answer = self._ask("pipe_open", {"command": list(command)}, ANSWER_S)
        return ServedPipe(self._ask, str(answer.get("pipe")))

    def upload(self, path: str, data: bytes) -> None:
        for offset in range(0, max(len(data), 1), CHUNK):
            piece = base64.b64encode(data[offset : offset + CHUNK]).decode()
            fields: JsonObject = {"path": path, "offset": offset, "data": piece}
            self._ask("upload", fields, ANSWER_S)

    def download(self, path: str, max_bytes: int) -> bytes:
        data = bytearray()
        while True:
            fields: JsonObject = {"path": path, "offset": len(data)}
            size, piece = _read_piece(self._ask("download", fields, ANSWER_S))
            if size > max_bytes:
                text = f"{path} has {size} bytes; at most {max_bytes} are allowed"
                raise SandboxError(text)
            data += piece
            if len(data) == size:
                return bytes(data)
            if not piece or len(data) > size:
                text = f"{path} was to have {size} bytes, and {len(data)} came"
                raise SandboxError(text)

    def blocked(self) -> tuple[ev.RequestBlocked, ...]:
        return self._gateway.blocked() if self._gateway else ()

    def detach(self) -> None:
        self._close_connections()
        self._leave()
        # From now on the sandbox may be another's.
        self._remove = self._leave

    def close(self) -> None:
        self._close_connections()
        self._remove()

    def _close_connections(self) -> None:
        self._connection.close()
        if self._gateway:
            self._gateway.close()

    def _answer_limit_s(self, action: ev.SandboxAction) -> float:
        limit_s: float | None = None
        if isinstance(
            action, ev.RunCommand | ev.ControlCommand | ev.RunIpython | ev.Browse
        ):
            limit_s = action.timeout_s
        return ANSWER_S + (self._command_timeout_s if limit_s is None else limit_s)

    def _ask(self, op: str, fields: JsonObject, timeout_s: float) -> JsonObject:
        name = f"{self._host}-{next(self._numbers)}"
        answer = self._ask_server({**fields, "id": name, "op": op}, timeout_s)
        if answer.get("kind") == "error":
            raise SandboxError(f"{op} failed in the sandbox: {answer.get('text')}")
        return answer

    def _ask_server(self, question: JsonObject, timeout_s: float) -> JsonObject:
        answer = self._connection.ask({**question, "host": self._host}, timeout_s)
        if answer.get("reason") == TAKEN_OVER["reason"]:
            raise RuntimeLostError(str(answer.get("text")))
        return answer


def _read_piece(answer: JsonObject) -> tuple[int, bytes]:
    """Return the size of the whole file, and a piece of it."""
    with _valid_answers("download"):
        size = TypeAdapter(NonNegativeInt).validate_python(answer.get("size"))
        return size, base64.b64decode(str(answer.get("data")), validate=True)


@contextmanager
def _valid_answers(op: str) -> Iterator[None]:
    """Count a server as lost that answers in no form of ours: an image has another."""
    try:
        yield
    except ValueError as error:
        text = f"the sandbox answers {op} in a form that is not ours"
        raise RuntimeLostError(text) from error
