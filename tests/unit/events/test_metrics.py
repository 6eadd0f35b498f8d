"""What model calls took is folded from the events."""

import pytest

from patchwright.core.events.observations import ModelCalled
from patchwright.core.events.state import ModelCallTotals, RunMetrics, measure
from patchwright.core.types.work import NO_USAGE, Usage
from tests.unit.trajectory.recorded import asked, noted, numbered, replied, whole_run


def test_every_call_counts_for_its_role_and_its_model() -> None:
    metrics = measure(whole_run())
    assert [(call.event_id, call.role, call.agent) for call in metrics.calls] == [
        (4, "main", ""),
        (7, "main", ""),
        (10, "delegate", "8"),
        (14, "condense", ""),
        (17, "main", ""),
    ]
    assert {role: total.calls for role, total in metrics.by_role.items()} == {
        "main": 3,
        "delegate": 1,
        "condense": 1,
    }
    assert metrics.by_model["openai/gpt-x"].usage.tokens_in == 4000
    assert metrics.total.latency_ms == 6000


def test_an_unknown_price_stays_unknown() -> None:
    total = measure(whole_run()).total
    assert total.usage.cost_usd is None
    assert total.unpriced == 1
    assert total.priced_usd == pytest.approx(0.04)


def test_tokens_from_the_cache_are_summed() -> None:
    usage = Usage(cost_usd=0.5, tokens_in=10, tokens_out=1, tokens_cached=7)
    entries = [replied("shell", cause=1, usage=usage)] * 2
    total = measure(numbered([asked(), *entries])).total
    assert total.usage == usage + usage
    assert total.priced_usd == 1.0


def test_a_call_that_failed_is_counted_and_named() -> None:
    failed = ModelCalled(role="judge", failure="model-unavailable", usage=NO_USAGE)
    silent = replied(cause=1, usage=NO_USAGE, reason="model-declined")
    metrics = measure(numbered([asked(), silent, noted(failed)]))
    assert [call.failure for call in metrics.calls] == [
        "model-declined",
        "model-unavailable",
    ]
    assert metrics.total.failures == 2


def test_a_run_without_calls_has_cost_nothing() -> None:
    assert measure(numbered([asked()])) == RunMetrics()
    assert ModelCallTotals().usage.cost_usd == 0.0
