"""Write figures as Prometheus reads them."""

from collections.abc import Mapping

from prometheus_client.core import (
    CounterMetricFamily,
    GaugeMetricFamily,
    HistogramMetricFamily,
)

from patchwright.workers.ops.catalogue import Figure
from patchwright.workers.ops.tally import Labels, Numbers, Totals

Family = CounterMetricFamily | GaugeMetricFamily | HistogramMetricFamily


def gauge(figure: Figure, values: Mapping[Labels, float]) -> GaugeMetricFamily:
    family = GaugeMetricFamily(figure.name, figure.about, labels=figure.labels)
    for labels, value in values.items():
        family.add_metric(labels, value)
    return family


def counter(figure: Figure, values: Mapping[Labels, float]) -> CounterMetricFamily:
    family = CounterMetricFamily(figure.name, figure.about, labels=figure.labels)
    for labels, value in values.items():
        family.add_metric(labels, value)
    return family


def histogram(
    figure: Figure, totals: Totals, counts: Mapping[Labels, float]
) -> HistogramMetricFamily:
    """Write a histogram of totals: the seconds, then how many up to each bucket."""
    family = HistogramMetricFamily(figure.name, figure.about, labels=figure.labels)
    for labels, numbers in totals.items():
        buckets = _buckets(figure, numbers[1:], counts[labels])
        family.add_metric(labels, buckets, sum_value=numbers[0])
    return family


def _buckets(figure: Figure, up_to: Numbers, count: float) -> list[tuple[str, float]]:
    bounds = [str(float(bound)) for bound in figure.buckets]
    return [*zip(bounds, up_to, strict=True), ("+Inf", count)]
