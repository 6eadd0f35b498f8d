"""End what a run waits for when its job is given back: its model and its sandboxes."""

import threading
from concurrent.futures import FIRST_COMPLETED, Future, wait
from typing import Any

from patchwright.core.errors import LeaseLostError
from patchwright.core.events.types import (
    ModelReply,
    SandboxAction,
    SandboxObservation,
)
from patchwright.core.llm.model import Model, ModelRequest
from patchwright.core.runtime import Runtime, RuntimeFactory, SandboxSpec

GivenBack = Future[None]


class InterruptibleModel:
    """Asks a model until the job is given back, and raises `LeaseLostError` then.

    The call itself cannot be ended. It is left behind, in a thread that does not keep
    the process alive.
    """

    def __init__(self, model: Model, given_back: GivenBack) -> None:
        self.name = model.name
        self._model, self._given_back = model, given_back

    def complete(self, request: ModelRequest) -> ModelReply:
        answer: Future[ModelReply] = Future()

        def ask() -> None:
            try:
                answer.set_result(self._model.complete(request))
            except BaseException as error:  # noqa: BLE001 - raised by the waiting thread
                answer.set_exception(error)

        threading.Thread(target=ask, name="model-request", daemon=True).start()
        either: list[Future[Any]] = [answer, self._given_back]
        wait(either, return_when=FIRST_COMPLETED)
        if self._given_back.done():
            raise LeaseLostError("the job was given back while the model was asked")
        return answer.result()

    def ceiling_usd(self, request: ModelRequest) -> float | None:
        return self._model.ceiling_usd(request)


class InterruptibleSandboxes:
    """Starts sandboxes that are removed as soon as the job is given back.

    Whoever waits for one gets its `RuntimeLostError`.
    """

    def __init__(self, sandboxes: RuntimeFactory, given_back: GivenBack) -> None:
        self.kind = sandboxes.kind
        self._sandboxes, self._given_back = sandboxes, given_back

    def start(self, spec: SandboxSpec) -> Runtime:
        runtime = _ClosedOnce(self._sandboxes.start(spec))
        # Called at once where it is given back already.
        self._given_back.add_done_callback(lambda _: runtime.close())
        return runtime

    def remove(self, run_id: str) -> int:
        return self._sandboxes.remove(run_id)

    def reap(self) -> int:
        return self._sandboxes.reap()


class _ClosedOnce:
    """A sandbox that two threads may close; the later one waits for the other."""

    def __init__(self, runtime: Runtime) -> None:
        self.kind = runtime.kind
        self._runtime = runtime
        self._lock = threading.Lock()
        self._is_open = True

    def run(self, action: SandboxAction, action_id: str) -> SandboxObservation:
        return self._runtime.run(action, action_id)

    def upload(self, path: str, data: bytes) -> None:
        self._runtime.upload(path, data)

    def download(self, path: str, max_bytes: int) -> bytes:
        return self._runtime.download(path, max_bytes)

    def close(self) -> None:
        with self._lock:
            if self._is_open:
                self._is_open = False
                self._runtime.close()
