"""What a process counts of itself, from its start on."""

from collections.abc import Callable
from functools import partial

from prometheus_client import (
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    ProcessCollector,
    generate_latest,
)

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
        intake = catalogue.INTAKE_WAITING
        self._waiting = Gauge(intake.name, intake.about, registry=self.registry)
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
        return Histogram(
            metric.name,
            metric.about,
            metric.labels,
            buckets=metric.buckets,
            registry=self.registry,
        )
