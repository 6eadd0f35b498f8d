"""The figures keep to Prometheus's conventions.

https://prometheus.io/docs/practices/naming/
"""

import pytest

from patchwright.workers.ops.catalogue import OWN, SHARED, Figure, Kind

FIGURES = (*SHARED, *OWN)


@pytest.mark.parametrize("figure", FIGURES, ids=lambda figure: figure.name)
def test_a_name_tells_the_kind_and_the_unit(figure: Figure) -> None:
    assert figure.name.startswith("patchwright_")
    assert figure.name.endswith("_total") is (figure.kind is Kind.COUNTER)
    assert bool(figure.buckets) is (figure.kind is Kind.HISTOGRAM)
    if figure.buckets:
        assert figure.name.endswith("_seconds")
    assert list(figure.buckets) == sorted(figure.buckets)


@pytest.mark.parametrize("figure", FIGURES, ids=lambda figure: figure.name)
def test_no_label_is_for_a_person_or_a_repository(figure: Figure) -> None:
    assert not {"login", "user", "account", "repo", "thread"} & set(figure.labels)
