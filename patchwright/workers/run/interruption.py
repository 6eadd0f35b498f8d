"""Let go of the sandboxes of a job that this process must not go on with."""

import threading
from collections.abc import Callable, Sequence
from typing import Final

from patchwright.core.agent.attention import ReleaseSignal
from patchwright.core.events.types import (
    RequestBlocked,
    SandboxAction,
    SandboxObservation,
)
from patchwright.core.runtime import Pipe, Runtime, RuntimeFactory, SandboxSpec

_WORK: Final = "work"


class InterruptibleSandboxes:
    """Starts sandboxes that are let go of as soon as the job is given back.

    Whoever waits for one gets its `RuntimeLostError`. With `for_another` the one that
    the agent works in is left for the worker that takes the job up.
    """

    def __init__(
        self,
        sandboxes: RuntimeFactory,
        release_signal: ReleaseSignal,
        *,
        for_another: bool = False,
    ) -> None:
        self.kind = sandboxes.kind
        self._sandboxes, self._release_signal = sandboxes, release_signal
        self._for_another = for_another

    def start(self, spec: SandboxSpec) -> Runtime:
        return self._watched(self._sandboxes.start(spec), spec)

    def attach(self, spec: SandboxSpec) -> Runtime | None:
        found = self._sandboxes.attach(spec)
        return self._watched(found, spec) if found else None

    def remove(self, run_id: str) -> int:
        return self._sandboxes.remove(run_id)

    def reap(self) -> int:
        return self._sandboxes.reap()

    def _watched(self, runtime: Runtime, spec: SandboxSpec) -> Runtime:
        once = _EndedOnce(runtime)
        is_left = self._for_another and spec.role == _WORK
        end = once.detach if is_left else once.close
        # Called at once where it is given back already.
        self._release_signal.add_done_callback(lambda _: end())
        return once


class _EndedOnce:
    """A sandbox that two threads may end; the later one waits for the other."""

    def __init__(self, runtime: Runtime) -> None:
        self.kind = runtime.kind
        self._runtime = runtime
        self._lock = threading.Lock()
        self._is_open = True

    def run(self, action: SandboxAction, action_id: str) -> SandboxObservation:
        return self._runtime.run(action, action_id)

    def cancel(self, action_id: str) -> None:
        self._runtime.cancel(action_id)

    def open_pipe(self, command: Sequence[str]) -> Pipe:
        return self._runtime.open_pipe(command)

    def upload(self, path: str, data: bytes) -> None:
        self._runtime.upload(path, data)

    def download(self, path: str, max_bytes: int) -> bytes:
        return self._runtime.download(path, max_bytes)

    def blocked(self) -> tuple[RequestBlocked, ...]:
        return self._runtime.blocked()

    def detach(self) -> None:
        self._end(self._runtime.detach)

    def close(self) -> None:
        self._end(self._runtime.close)

    def _end(self, end: Callable[[], None]) -> None:
        with self._lock:
            if self._is_open:
                self._is_open = False
                end()
