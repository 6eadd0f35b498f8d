"""Metrics of one process, with the calls of models and the starts of sandboxes."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Final

from prometheus_client import (
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    ProcessCollector,
    generate_latest,
)

from patchwright.core.events.observations import ModelReply
from patchwright.core.llm.errors import CallWatch
from patchwright.core.llm.model import Model, ModelCapabilities, ModelRequest
from patchwright.core.runtime import Runtime, RuntimeFactory, SandboxSpec
from patchwright.core.system.clock import Clock
from patchwright.core.types.errors import PatchwrightError
from patchwright.workers.ops import catalogue
from patchwright.workers.ops.catalogue import Metric

# https://prometheus.io/docs/instrumenting/exposition_formats/#text-based-format
MEDIA_TYPE = "text/plain; version=0.0.4; charset=utf-8"


class ProcessMetrics:
    """The counters of one process, and whatever else is shown with them."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        ProcessCollector(registry=self.registry)
        self._requests = self._counter(catalogue.HTTP_REQUESTS)
        self._request_s = self._histogram(catalogue.HTTP_SECONDS)
        self._calls = self._counter(catalogue.MODEL_CALLS)
        self._call_s = self._histogram(catalogue.MODEL_SECONDS)
        self._starts = self._counter(catalogue.SANDBOX_STARTS)
        self._start_s = self._histogram(catalogue.SANDBOX_SECONDS)
        inbox = catalogue.INTAKE_WAITING
        self._waiting = Gauge(inbox.name, inbox.about, registry=self.registry)
        self.show: Callable[[], bytes] = partial(generate_latest, self.registry)

    def count_request(
        self, method: str, route: str, status: int, seconds: float
    ) -> None:
        self._requests.labels(method, route, str(status)).inc()
        self._request_s.labels(route).observe(seconds)

    def count_call(self, model: str, outcome: str, seconds: float) -> None:
        self._calls.labels(model, outcome).inc()
        self._call_s.labels(model).observe(seconds)

    def count_start(self, kind: str, outcome: str, seconds: float) -> None:
        self._starts.labels(kind, outcome).inc()
        self._start_s.labels(kind).observe(seconds)

    def watch_intake(self, count: Callable[[], int]) -> None:
        """Ask how many deliveries wait, whenever the figures are shown."""
        self._waiting.set_function(count)

    def _counter(self, metric: Metric) -> Counter:
        return Counter(metric.name, metric.about, metric.labels, registry=self.registry)

    def _histogram(self, metric: Metric) -> Histogram:
        name, about, labels = metric.name, metric.about, metric.labels
        return Histogram(
            name, about, labels, buckets=metric.buckets, registry=self.registry
        )


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
        with _counted(self.name, self._count, self._clock):
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
        with _counted(self.kind, self._count, self._clock):
            return self._sandboxes.start(spec)

    def attach(self, spec: SandboxSpec) -> Runtime | None:
        return self._sandboxes.attach(spec)

    def remove(self, run_id: str) -> int:
        return self._sandboxes.remove(run_id)

    def reap(self) -> int:
        return self._sandboxes.reap()


@contextmanager
def _counted(label: str, count: Count, clock: Clock) -> Iterator[None]:
    """Count what happens in the context, by the reason of the error that leaves it."""
    began_at, outcome = clock.monotonic(), _OK
    try:
        yield
    except BaseException as error:
        outcome = (
            error.reason if isinstance(error, PatchwrightError) else _UNKNOWN_ERROR
        )
        raise
    finally:
        count(label, outcome, clock.monotonic() - began_at)
