"""Prices are known, zero when stated, or unknown."""

import math
from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from patchwright.core.events.payload import ToolCall
from patchwright.core.llm.model import (
    AssistantTurn,
    Image,
    ModelRequest,
    ToolSpec,
    UserText,
)
from patchwright.core.llm.prices import (
    ModelConfig,
    Prices,
    configured_prices,
    estimated_output,
    highest_prices,
    most_prompt_tokens,
    output_limit,
    usual_prompt_tokens,
)
from patchwright.core.llm.replies import Reply
from patchwright.core.text.strings import well_formed
from patchwright.core.types.work import Usage


def config(**fields: float) -> ModelConfig:
    return ModelConfig.model_validate({"model": "openai/x", **fields})


def no_table() -> Mapping[str, object]:
    raise AssertionError("the table was looked up")


def test_half_a_price_is_none() -> None:
    assert configured_prices(config(input_cost_per_token=0.1)) is None


def test_s67_a_configured_price_of_zero_is_a_price() -> None:
    free = config(input_cost_per_token=0.0, output_cost_per_token=0.0)
    prices = configured_prices(free)
    assert prices is not None
    assert prices.cost(Usage(tokens_in=10, tokens_out=10)) == 0.0


def test_what_was_cached_has_a_price_of_its_own_where_one_is_set() -> None:
    prices = Prices(input_usd=1.0, output_usd=5.0, cached_usd=0.1)
    usage = Usage(tokens_in=10, tokens_cached=4, tokens_out=1)
    assert prices.cost(usage) == pytest.approx(6 + 0.4 + 5)
    assert Prices(input_usd=1.0, output_usd=5.0).cost(usage) == 15.0


def test_an_image_is_reserved_at_its_most_and_estimated_as_usual() -> None:
    image = Image(media_type="image/png", data="QUJD")
    plain = ModelRequest(messages=(UserText(text="x"),))
    shown = ModelRequest(messages=(UserText(text="x", images=(image,)),))
    assert most_prompt_tokens(shown) - most_prompt_tokens(plain) == 50_000
    assert usual_prompt_tokens(shown) - usual_prompt_tokens(plain) == 2000


@pytest.mark.parametrize(
    "entry",
    [
        {},
        {"input_cost_per_token": 1.0},
        {"input_cost_per_token": None, "output_cost_per_token": 1.0},
    ],
)
def test_s67_a_table_entry_without_a_price_is_not_free(
    entry: dict[str, object],
) -> None:
    assert highest_prices(entry) is None


def test_the_dearest_tier_counts_and_so_does_writing_to_the_cache() -> None:
    entry = {
        "input_cost_per_token": 1.0,
        "input_cost_per_token_above_200k_tokens": 2.0,
        "cache_creation_input_token_cost": 2.5,
        "cache_read_input_token_cost": 0.1,
        "output_cost_per_token": 5.0,
        "output_cost_per_token_above_200k_tokens": 7.5,
    }
    assert highest_prices(entry) == Prices(input_usd=2.5, output_usd=7.5)


@given(st.text(st.characters(exclude_categories=())), st.text())
def test_s66_no_tokenizer_can_need_more_than_the_bound(text: str, called: str) -> None:
    call = ToolCall(id="a", name="shell", arguments=called)
    request = ModelRequest(
        messages=(UserText(text=text), AssistantTurn(text=text, tool_calls=(call,)))
    )
    needed = 2 * len(text.encode(errors="replace")) + len(called.encode())
    assert most_prompt_tokens(request) > needed


def test_s66_the_ceiling_is_the_longest_prompt_and_the_longest_reply() -> None:
    request = ModelRequest(messages=(UserText(text="x" * 68),))
    prices = Prices(input_usd=0.01, output_usd=0.1)
    assert prices.most(most_prompt_tokens(request), 10) == pytest.approx(1.0 + 1.0)


def test_output_is_limited_by_the_settings_first() -> None:
    assert output_limit(config(max_output_tokens=5), no_table) == 5


def test_what_has_a_configured_price_is_bounded_without_the_table() -> None:
    priced = config(input_cost_per_token=0.1, output_cost_per_token=0.1)
    small = priced.replace(context_window=4000)
    assert output_limit(priced, no_table) == 8192
    assert output_limit(small, no_table) == 1000


def test_l7_a_tool_is_counted_in_bytes_whatever_its_script() -> None:
    words = "读取文件的内容" * 1000
    tool = ToolSpec(name="read", description=words, parameters={"type": "object"})
    request = ModelRequest(messages=(), tools=(tool,))
    assert most_prompt_tokens(request) > len(words.encode())


@given(st.text(st.characters(exclude_categories=())))
def test_l7_no_tool_can_need_more_than_the_bound(text: str) -> None:
    tool = ToolSpec(name="t", description=text, parameters={"x": text})
    request = ModelRequest(messages=(), tools=(tool,))
    assert most_prompt_tokens(request) > 2 * len(well_formed(text).encode())


@given(st.text(st.characters(categories=["Cs", "Ll"])))
def test_l7_half_a_surrogate_pair_counts_as_what_is_sent_for_it(text: str) -> None:
    request = ModelRequest(messages=(UserText(text=text),))
    assert most_prompt_tokens(request) > len(well_formed(text).encode())


@pytest.mark.parametrize("cached_usd", [None, 0.1, 7.0])
@pytest.mark.parametrize("tokens_in", [0, 50, -3])
def test_h6_no_count_of_cached_tokens_makes_a_price_negative(
    tokens_in: int, cached_usd: float | None
) -> None:
    prices = Prices(input_usd=1.0, output_usd=5.0, cached_usd=cached_usd)
    usage = Usage(tokens_in=tokens_in, tokens_cached=20_000)
    assert prices.cost(usage) >= 19_950
    assert prices.cost(Usage(tokens_cached=-20_000, tokens_out=-1)) >= 0


def test_h6_what_is_cached_may_be_dearer_and_is_reserved_so() -> None:
    prices = Prices(input_usd=1.0, output_usd=5.0, cached_usd=2.0)
    most = prices.most(10, 1)
    assert most == 25.0
    assert prices.cost(Usage(tokens_in=10, tokens_cached=10, tokens_out=1)) <= most


@pytest.mark.parametrize("price", [0.0, None])
def test_free_output_and_that_of_an_unknown_price_are_bounded_too(
    price: float | None,
) -> None:
    priced = {"input_cost_per_token": price, "output_cost_per_token": price}
    free = ModelConfig.model_validate({"model": "openai/x", **priced})
    assert output_limit(free, dict) == 16_384


@pytest.mark.parametrize(
    ("stated", "limit"),
    [
        (4096, 4096),
        (64_000, 16_384),
        (None, 8192),
        (2048.0, 2048),
        ("many", 8192),
        (True, 8192),
        (-5, 8192),
        (math.inf, 8192),
    ],
)
def test_output_is_always_bounded_by_the_table_or_by_what_is_usual(
    stated: object, limit: int
) -> None:
    entry = {
        "max_output_tokens": stated,
        "input_cost_per_token": 1e-6,
        "output_cost_per_token": 1e-6,
    }
    assert output_limit(config(), lambda: entry) == limit


def test_a_reply_that_nobody_counts_is_estimated_by_bytes() -> None:
    assert estimated_output(Reply(text="y" * 30)) == 11
