"""Ask an action server, and match its answers to the questions."""

import json
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import suppress
from threading import Lock, Thread
from typing import Protocol

from pydantic import JsonValue

from patchwright.core.types.errors import RuntimeLostError
from patchwright.sandbox.action_server.protocol import LineBuffer

JsonObject = dict[str, JsonValue]

# The longest answers are pieces of files and lines of programs, with their escapes.
MAX_LINE_BYTES = 32 << 20
LINE_TOO_LONG = f"it sent a line of more than {MAX_LINE_BYTES >> 20} MiB"


class ServerStream(Protocol):
    """Two pipes to a server. Reading blocks, and returns `b""` once it is gone."""

    def read(self) -> bytes: ...

    def write(self, data: bytes) -> None:
        """Write everything, or raise `OSError` when nobody reads any more."""
        ...

    def last_words(self) -> str:
        """Return what the server, or what runs it, printed besides its answers."""
        ...

    def close(self) -> None: ...


class ServerConnection:
    """Questions and answers by id; several threads may ask at the same time."""

    def __init__(self, stream: ServerStream) -> None:
        self._stream = stream
        self._lock = Lock()
        self._waiting: dict[str, Future[JsonObject]] = {}
        self._is_lost = False
        self._error_text = ""
        self._reader = Thread(target=self._read_answers, daemon=True)
        self._reader.start()

    def ask(self, question: JsonObject, timeout_s: float) -> JsonObject:
        """Return the answer; raise `RuntimeLostError` if there will be none."""
        future = self._expect(str(question["id"]))
        line = json.dumps(question).encode() + b"\n"
        try:
            with self._lock:
                self._stream.write(line)
        except OSError as error:
            raise self._lost() from error
        try:
            return future.result(timeout_s)
        except TimeoutError as error:
            text = f"the sandbox did not answer for {timeout_s:g} s"
            raise RuntimeLostError(text) from error

    def resynchronise(self) -> None:
        """End the line that another worker may have left half written."""
        with suppress(OSError), self._lock:
            self._stream.write(b"\n")

    def close(self) -> None:
        self._stream.close()
        self._reader.join()

    def _expect(self, question_id: str) -> Future[JsonObject]:
        with self._lock:
            if self._is_lost:
                raise self._lost()
            # The same question twice is one question, with one answer.
            return self._waiting.setdefault(question_id, Future())

    def _read_answers(self) -> None:
        lines = LineBuffer()
        while data := self._read():
            for line in lines.feed(data):
                self._deliver(_parse(line))
            if lines.waiting_bytes > MAX_LINE_BYTES:
                # Any program may run in the sandbox: its output is not read here.
                self._error_text = LINE_TOO_LONG
                break
        with self._lock:
            self._is_lost = True
            waiting, self._waiting = self._waiting, {}
        for future in waiting.values():
            future.set_exception(self._lost())

    def _read(self) -> bytes:
        try:
            return self._stream.read()
        except OSError:
            return b""

    def _deliver(self, answer: JsonObject) -> None:
        result = answer.get("result")
        with self._lock:
            future = self._waiting.pop(str(answer.get("id")), None)
        if future is not None and isinstance(result, dict):
            future.set_result(result)

    def _lost(self) -> RuntimeLostError:
        words = self._error_text or self._stream.last_words().strip()
        return RuntimeLostError(f"the sandbox is gone{f': {words}' if words else ''}")


def _parse(line: bytes) -> JsonObject:
    """Read an answer; the stream may begin in the middle of another answer."""
    try:
        answer = json.loads(line)
    except (ValueError, RecursionError):
        return {}
    return answer if isinstance(answer, dict) else {}


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
