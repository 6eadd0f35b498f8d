"""A program in the sandbox that speaks lines; see `core.runtime.Pipe`."""

from collections.abc import Callable

from patchwright.sandbox.connection import JsonObject

# An operation of the server, its fields, and how long its answer may take.
AskServer = Callable[[str, JsonObject, float], JsonObject]

ANSWER_S = 60.0


class ServedPipe:
    def __init__(self, ask: AskServer, name: str) -> None:
        self._ask = ask
        self._name = name

    def write(self, line: str) -> None:
        fields: JsonObject = {"pipe": self._name, "line": line}
        self._ask("pipe_write", fields, ANSWER_S)

    def read(self, timeout_s: float) -> str | None:
        fields: JsonObject = {"pipe": self._name, "timeout_s": timeout_s}
        answer = self._ask("pipe_read", fields, timeout_s + ANSWER_S)
        return str(answer["line"]) if "line" in answer else None

    def close(self) -> None:
        self._ask("pipe_close", {"pipe": self._name}, ANSWER_S)
