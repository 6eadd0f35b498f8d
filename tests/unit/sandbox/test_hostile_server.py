"""An image whose `python3` is somebody else's program does not hold the worker up."""

import json
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

import pytest

from patchwright.core.events.actions import RunCommand
from patchwright.core.types.errors import RuntimeLostError, SandboxError
from patchwright.sandbox.host.served_runtime import ServedRuntime
from patchwright.sandbox.host.server_connection import MAX_LINE_BYTES, ServerConnection

Answer = Callable[[dict[str, object]], bytes]


class HostileServer:
    """The worker's end of a line; who is at the other end answers as it likes."""

    def __init__(self, answer: Answer) -> None:
        self._answer = answer
        self._ours, self._theirs = socket.socketpair()
        self._talking: list[threading.Thread] = []
        self.questions = 0

    def read(self) -> bytes:
        return self._ours.recv(1 << 16)

    def write(self, data: bytes) -> None:
        self.questions += 1
        said = self._answer(json.loads(data))
        self._talking.append(threading.Thread(target=self._say, args=(said,)))
        self._talking[-1].start()

    def _say(self, said: bytes) -> None:
        # Whoever has heard enough goes in the middle of a long answer.
        with suppress(BrokenPipeError):
            self._theirs.sendall(said)

    def last_words(self) -> str:
        return ""

    def close(self) -> None:
        self._theirs.shutdown(socket.SHUT_RDWR)
        for thread in self._talking:
            thread.join()
        self._theirs.close()
        self._ours.close()


@contextmanager
def served(answer: Answer) -> Iterator[tuple[ServedRuntime, HostileServer]]:
    stream = HostileServer(answer)
    runtime = ServedRuntime(
        kind="docker",
        connection=ServerConnection(stream),
        command_timeout_s=5,
        remove=lambda: None,
        leave=lambda: None,
    )
    yield runtime, stream
    runtime.close()


def always(result: object) -> Answer:
    return lambda asked: (
        json.dumps({"id": asked["id"], "result": result}).encode() + b"\n"
    )


@pytest.mark.parametrize(
    "piece",
    [
        {"size": 5, "data": ""},
        {"size": 5, "data": "MTIzNDU2Nzg="},
        {"size": 10, "data": ""},
        {"size": 1000, "data": "MQ=="},
        {"size": -1, "data": ""},
        {"size": "many", "data": ""},
        {"size": 5, "data": "?"},
        {"size": 5},
        {},
    ],
)
def test_a_download_ends_whatever_is_answered(piece: dict[str, object]) -> None:
    with served(always({"kind": "piece", **piece})) as (runtime, server):
        with pytest.raises(SandboxError):
            runtime.download("/workspace/x", 100)
        assert server.questions <= 101


@pytest.mark.parametrize("result", [{}, {"kind": "x"}, {"kind": "command_output"}])
def test_an_observation_of_no_form_is_a_lost_sandbox(result: dict[str, object]) -> None:
    with (
        served(always(result)) as (runtime, _),
        pytest.raises(RuntimeLostError, match="not ours"),
    ):
        runtime.run(RunCommand(command="true"), "1")


def test_an_answer_that_is_nested_too_deeply_is_passed_over() -> None:
    def deep(asked: dict[str, object]) -> bytes:
        true = always({"kind": "stored"})(asked)
        return b'{"id": ' + b"[" * 200_000 + b"\n" + true

    with served(deep) as (runtime, server):
        runtime.upload("/workspace/x", b"1")
        assert server.questions == 1


def test_a_line_without_an_end_is_a_lost_sandbox() -> None:
    with (
        served(lambda _: b"x" * (MAX_LINE_BYTES + (1 << 20))) as (runtime, _),
        pytest.raises(RuntimeLostError, match="a line of more than 32 MiB"),
    ):
        runtime.upload("/workspace/x", b"1")
