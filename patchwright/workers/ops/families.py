"""Write figures as Prometheus reads them."""

from collections.abc import Mapping

from prometheus_client.core import (
    CounterMetricFamily,
    GaugeMetricFamily,
    HistogramMetricFamily,
)

from patchwright.workers.ops.catalogue import Metric
from patchwright.workers.ops.tally import Labels, Numbers, LabelTotals

Family = CounterMetricFamily | GaugeMetricFamily | HistogramMetricFamily


def gauge(metric: Metric, values: Mapping[Labels, float]) -> GaugeMetricFamily:
    family = GaugeMetricFamily(metric.name, metric.about, labels=metric.labels)
    for labels, value in values.items():
        family.add_metric(labels, value)
    return family


def counter(metric: Metric, values: Mapping[Labels, float]) -> CounterMetricFamily:
    family = CounterMetricFamily(metric.name, metric.about, labels=metric.labels)
    for labels, value in values.items():
        family.add_metric(labels, value)
    return family


def histogram(
    metric: Metric, totals: LabelTotals, counts: Mapping[Labels, float]
) -> HistogramMetricFamily:
    """Write a histogram of totals: the seconds, then how many up to each bucket."""
    family = HistogramMetricFamily(metric.name, metric.about, labels=metric.labels)
    for labels, numbers in totals.items():
        buckets = _buckets(metric, numbers[1:], counts[labels])
        family.add_metric(labels, buckets, sum_value=numbers[0])
    return family


def _buckets(metric: Metric, up_to: Numbers, count: float) -> list[tuple[str, float]]:
    bounds = [str(float(bound)) for bound in metric.buckets]
    return [*zip(bounds, up_to, strict=True), ("+Inf", count)]
