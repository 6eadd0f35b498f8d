"""What a call costs is the provider's figure, a known price, or unknown; never a guess.

The names of real models stand for rows of litellm's price table.
"""

import pytest

from tests.adapters.llm.asking import ask, model_at
from tests.fakes.llm.provider import FakeProvider
from tests.fakes.llm.turns import TurnLike, say, with_usage

PRICES = {"input_cost_per_token": 0.001, "output_cost_per_token": 0.01}
IN_TABLE = "openai/gpt-4o"


def cost_of(turn: TurnLike, **settings: object) -> float | None:
    with FakeProvider([turn]) as provider:
        return model_at(provider, settings).complete(ask()).usage.cost_usd


def ceiling_of(**settings: object) -> float | None:
    with FakeProvider() as provider:
        return model_at(provider, settings).ceiling_usd(ask())


def test_s66_the_providers_own_cost_is_used_first() -> None:
    assert cost_of(with_usage("ok", cost=0.3), model=IN_TABLE, **PRICES) == 0.3


def test_s67_a_providers_figure_of_zero_is_zero() -> None:
    assert cost_of(with_usage("ok", cost=0.0), **PRICES) == 0.0


def test_configured_prices_override_the_table() -> None:
    assert cost_of("ok", model=IN_TABLE, **PRICES) == pytest.approx(0.1 + 0.2)


def test_the_table_knows_what_cached_tokens_cost() -> None:
    whole = cost_of("ok", model=IN_TABLE)
    details = {"cached_tokens": 100}
    cached = cost_of(with_usage("ok", prompt_tokens_details=details), model=IN_TABLE)
    assert whole is not None
    assert cached is not None
    assert 0.0 < cached < whole


def test_s67_a_missing_price_is_unknown_and_not_zero() -> None:
    assert cost_of("ok") is None
    assert ceiling_of() is None


def test_s67_a_stated_price_of_zero_is_zero() -> None:
    free = {"input_cost_per_token": 0.0, "output_cost_per_token": 0.0}
    assert cost_of("ok", **free) == 0.0
    assert ceiling_of(**free) == 0.0


def test_a_provider_that_counts_nothing_has_taken_what_it_may_have_taken() -> None:
    with FakeProvider([say("ok", usage=None)]) as provider:
        model = model_at(provider, PRICES)
        usage = model.complete(ask()).usage
        assert usage.cost_usd == model.ceiling_usd(ask())
    # The chat goes by the tokens, which are estimated.
    assert 50 < usage.tokens_in < 200
    assert usage.tokens_out == 1


@pytest.mark.parametrize("settings", [PRICES, {"model": IN_TABLE}])
def test_s66_no_call_costs_more_than_its_ceiling(settings: dict[str, object]) -> None:
    ceiling = ceiling_of(**settings)
    cost = cost_of("ok", **settings)
    assert ceiling is not None
    assert cost is not None
    assert cost <= ceiling
