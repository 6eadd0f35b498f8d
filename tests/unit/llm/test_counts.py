"""What a provider counts is read from whatever it sends, and never gives money back."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import JsonValue

from patchwright.core.llm.prices import Prices
from patchwright.core.llm.replies import (
    NOTHING_REPORTED,
    ReportedUsage,
    read_reported_usage,
)
from patchwright.core.types.work import Usage

NUMBERS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(10**30), 10**30),
    st.floats(),
    st.text(max_size=5),
    st.sampled_from(["12", "-3", "nan", "1e999", "9" * 5000]),
    st.lists(st.integers(), max_size=2),
)
NAMES = (
    "prompt_tokens",
    "completion_tokens",
    "input_tokens",
    "output_tokens",
    "cached_tokens",
    "cache_write_tokens",
    "cache_creation_tokens",
    "cache_read_input_tokens",
    "cache_creation_input_tokens",
    "cost",
)
COUNTS = st.dictionaries(st.sampled_from(NAMES), NUMBERS)
USAGES = st.one_of(
    NUMBERS,
    st.builds(
        lambda usage, details: {**usage, "prompt_tokens_details": details},
        COUNTS,
        st.one_of(NUMBERS, COUNTS),
    ),
)


@given(USAGES)
def test_h6_nothing_a_provider_can_send_is_negative_or_breaks_the_sums(
    usage: JsonValue,
) -> None:
    told = read_reported_usage(usage)
    counts = (told.tokens_in or 0, told.tokens_out or 0)
    assert all(0 <= count <= 2 * 10**7 + 10**7 for count in counts)
    beside = told.tokens_cached + told.tokens_cache_written
    assert 0 <= beside <= (told.tokens_in or 0)
    assert told.cost_usd is None or 0 <= told.cost_usd <= 10**6
    counted = Usage(
        tokens_in=counts[0], tokens_out=counts[1], tokens_cached=told.tokens_cached
    )
    prices = Prices(input_usd=0.001, output_usd=0.002, cached_usd=0.0001)
    assert 0 <= prices.cost(counted) < math.inf


def test_h6_what_was_cached_comes_on_top_where_the_prompt_leaves_it_out() -> None:
    usage: JsonValue = {
        "prompt_tokens": 50,
        "completion_tokens": 7,
        "prompt_tokens_details": {"cached_tokens": 20_000},
    }
    told = read_reported_usage(usage)
    assert told == ReportedUsage(tokens_in=20_050, tokens_out=7, tokens_cached=20_000)


def test_a_usage_in_anthropics_words_is_read() -> None:
    usage: JsonValue = {
        "input_tokens": 50,
        "output_tokens": 7,
        "cache_read_input_tokens": 600,
        "cache_creation_input_tokens": 300,
    }
    assert read_reported_usage(usage) == ReportedUsage(
        tokens_in=950, tokens_out=7, tokens_cached=600, tokens_cache_written=300
    )


@pytest.mark.parametrize("usage", [None, [], "x", {}, {"prompt_tokens": -5}])
def test_what_cannot_be_is_not_told(usage: JsonValue) -> None:
    assert read_reported_usage(usage) == NOTHING_REPORTED
    assert not read_reported_usage(usage).is_whole


def test_an_absurd_count_is_bounded() -> None:
    assert read_reported_usage({"prompt_tokens": 10**4000}).tokens_in == 10**7
