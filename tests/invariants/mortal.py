"""A worker that can be killed at each point where it touches the world."""

import threading
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager

from patchwright.core.events.log import EventLog
from patchwright.core.events.observations import ModelReply
from patchwright.core.events.payload import Source
from patchwright.core.events.types import (
    Event,
    Known,
    SandboxAction,
    SandboxObservation,
)
from patchwright.core.llm.errors import CallWatch
from patchwright.core.llm.model import ModelCapabilities, ModelRequest
from tests.unit.agent.memory_sandbox import MemorySandbox


class KilledError(BaseException):
    """The process is gone: nobody catches this, and nothing it does counts."""


class Fate:
    """Counts the points that a worker passes, and kills it at one of them.

    `remarks` are made when it passes their points. After its death nothing of it has
    any effect any more.
    """

    def __init__(
        self, dies_at: int | None, remarks: dict[int, Callable[[], None]] | None = None
    ) -> None:
        self._dies_at, self._remarks = dies_at, remarks or {}
        self._passed = 0
        self._is_dead = False
        self._lock = threading.Lock()

    def meet(self) -> None:
        with self._lock:
            self._passed += 1
            self._is_dead = self._is_dead or self._passed == self._dies_at
            if self._is_dead:
                raise KilledError
            remark = self._remarks.pop(self._passed, None)
        if remark is not None:
            remark()


class MortalLog:
    """A worker's hold on the log: it can die before or after anything is stored."""

    def __init__(self, log: EventLog, fate: Fate) -> None:
        self._log, self._fate = log, fate

    def append(self, source: Source, payload: Known, cause: int | None = None) -> Event:
        self._fate.meet()
        event = self._log.append(source, payload, cause)
        self._fate.meet()
        return event

    def read(
        self,
        start_id: int = 1,
        end_id: int | None = None,
        *,
        limit: int | None = None,
        reverse: bool = False,
        kinds: frozenset[str] | None = None,
    ) -> Sequence[Event]:
        return self._log.read(
            start_id, end_id, limit=limit, reverse=reverse, kinds=kinds
        )

    def subscribe(
        self, reader: Callable[[Event], None], after_id: int = 0
    ) -> AbstractContextManager[None]:
        return self._log.subscribe(reader, after_id)

    def listen(self) -> AbstractContextManager[threading.Event]:
        return self._log.listen()


class MortalSandbox(MemorySandbox):
    """A worker's hold on a sandbox, which outlives it with all its results."""

    def __init__(self, sandbox: MemorySandbox, fate: Fate) -> None:
        super().__init__()
        self._sandbox, self._fate = sandbox, fate

    def run(self, action: SandboxAction, action_id: str) -> SandboxObservation:
        self._fate.meet()
        observation = self._sandbox.run(action, action_id)
        self._fate.meet()
        return observation


class MortalModel:
    """A model whose caller can die before it is asked and before it is heard."""

    name = "mortal"

    def __init__(
        self,
        answer: Callable[[ModelRequest], ModelReply],
        fate: Fate,
        context_window: int | None,
    ) -> None:
        self._answer, self._fate = answer, fate
        self._capabilities = ModelCapabilities(context_window=context_window)

    def complete(
        self, request: ModelRequest, watch: CallWatch | None = None
    ) -> ModelReply:
        del watch
        self._fate.meet()
        reply = self._answer(request)
        self._fate.meet()
        return reply

    def ceiling_usd(self, request: ModelRequest) -> float | None:
        del request
        return 0.0

    def capabilities(self) -> ModelCapabilities:
        return self._capabilities
