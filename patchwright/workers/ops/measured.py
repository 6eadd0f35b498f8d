"""Models and sandboxes that are counted."""

from collections.abc import Callable
from typing import Final

from patchwright.core.clock import Clock
from patchwright.core.errors import PatchwrightError
from patchwright.core.events.types import ModelReply
from patchwright.core.llm.budget import CallWatch
from patchwright.core.llm.model import Model, ModelRequest, ModelCapabilities
from patchwright.core.runtime import Runtime, RuntimeFactory, SandboxSpec

_OK: Final = "ok"
_UNKNOWN_ERROR: Final = "broken"
# A label, how it went, and the seconds it took.
Count = Callable[[str, str, float], None]


class MeasuredModel:
    """A model whose calls are counted."""

    def __init__(self, model: Model, count: Count, clock: Clock) -> None:
        self.name = model.name
        self._model, self._count, self._clock = model, count, clock

    def complete(
        self, request: ModelRequest, watch: CallWatch | None = None
    ) -> ModelReply:
        with _Stopwatch(self.name, self._count, self._clock):
            return self._model.complete(request, watch)

    def ceiling_usd(self, request: ModelRequest) -> float | None:
        return self._model.ceiling_usd(request)

    def capabilities(self) -> ModelCapabilities:
        return self._model.capabilities()


class MeasuredSandboxes:
    """Sandboxes whose starts are counted."""

    def __init__(self, sandboxes: RuntimeFactory, count: Count, clock: Clock) -> None:
        self.kind = sandboxes.kind
        self._sandboxes, self._count, self._clock = sandboxes, count, clock

    def start(self, spec: SandboxSpec) -> Runtime:
        with _Stopwatch(self.kind, self._count, self._clock):
            return self._sandboxes.start(spec)

    def attach(self, spec: SandboxSpec) -> Runtime | None:
        return self._sandboxes.attach(spec)

    def remove(self, run_id: str) -> int:
        return self._sandboxes.remove(run_id)

    def reap(self) -> int:
        return self._sandboxes.reap()


class _Stopwatch:
    """Counts what happens in its context, by the reason of the error that leaves it."""

    def __init__(self, label: str, count: Count, clock: Clock) -> None:
        self._label, self._count, self._clock = label, count, clock
        self._began_at = clock.monotonic()

    def __enter__(self) -> None:
        """Run from here on."""

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, _: object
    ) -> None:
        outcome = _OK if kind is None else _reason(error)
        took_s = self._clock.monotonic() - self._began_at
        self._count(self._label, outcome, took_s)


def _reason(error: BaseException | None) -> str:
    return error.reason if isinstance(error, PatchwrightError) else _UNKNOWN_ERROR
