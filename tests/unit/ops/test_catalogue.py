"""The figures keep to Prometheus's conventions.

https://prometheus.io/docs/practices/naming/
"""

import pytest

from patchwright.workers.ops.catalogue import (
    PROCESS_METRICS,
    SERVICE_METRICS,
    Metric,
    MetricKind,
)

FIGURES = (*SERVICE_METRICS, *PROCESS_METRICS)


@pytest.mark.parametrize("metric", FIGURES, ids=lambda metric: metric.name)
def test_a_name_tells_the_kind_and_the_unit(metric: Metric) -> None:
    assert metric.name.startswith("patchwright_")
    assert metric.name.endswith("_total") is (metric.kind is MetricKind.COUNTER)
    assert bool(metric.buckets) is (metric.kind is MetricKind.HISTOGRAM)
    if metric.buckets:
        assert metric.name.endswith("_seconds")
    assert list(metric.buckets) == sorted(metric.buckets)


@pytest.mark.parametrize("metric", FIGURES, ids=lambda metric: metric.name)
def test_no_label_is_for_a_person_or_a_repository(metric: Metric) -> None:
    assert not {"login", "user", "account", "repo", "thread"} & set(metric.labels)
