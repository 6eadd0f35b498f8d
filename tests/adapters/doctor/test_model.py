"""The check of the model: what it says for nothing, and for money."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from patchwright.core.doctor import CheckContext, CheckStatus
from patchwright.core.llm.library import load_litellm
from tests.adapters.doctor.cases import case_of, examined
from tests.fakes.llm.provider import FakeProvider
from tests.fakes.llm.turns import say

KEY = "sk-doctor"
PRICES = {
    "LLM__INPUT_COST_PER_TOKEN": "0.000001",
    "LLM__OUTPUT_COST_PER_TOKEN": "0.000002",
}


@pytest.fixture(autouse=True)
def _quiet_litellm() -> None:
    # With each test pytest forgets which of its warnings are none.
    load_litellm.cache_clear()
    load_litellm()


@pytest.fixture
def provider() -> Iterator[FakeProvider]:
    with FakeProvider([say("ready")], api_key=KEY) as found:
        yield found


def local(folder: Path, provider: FakeProvider, **more: str) -> CheckContext:
    own = {
        "LLM__MODEL": "openai/scripted",
        "LLM__BASE_URL": provider.base_url,
        "LLM__API_KEY": KEY,
    }
    return case_of(folder, **{**own, **more})


def test_no_model_and_one_without_a_key_are_told(tmp_path: Path) -> None:
    assert "set LLM_MODEL" in examined("model", case_of(tmp_path)).fix
    case = case_of(tmp_path, LLM__MODEL="anthropic/claude-haiku-4-5")
    told = examined("model", case)
    assert told.status is CheckStatus.FAILED
    assert told.found == "no key: neither llm.api_key nor ANTHROPIC_API_KEY"


def test_a_known_model_with_a_key_has_a_price(tmp_path: Path) -> None:
    case = case_of(tmp_path, LLM__MODEL="openai/gpt-4o", LLM__API_KEY="sk-x")
    assert examined("model", case).found == "openai/gpt-4o, price known"


def test_a_name_that_is_in_no_table_is_told(tmp_path: Path) -> None:
    case = case_of(tmp_path, LLM__MODEL="openai/gtp-4o", LLM__API_KEY="sk-x", **PRICES)
    told = examined("model", case)
    assert told.status is CheckStatus.WARNING
    assert told.found == "openai/gtp-4o is not in the model table"


def test_an_unknown_price_counts_as_the_policy_says(
    tmp_path: Path, provider: FakeProvider
) -> None:
    capped = examined("model", local(tmp_path, provider))
    assert capped.status is CheckStatus.WARNING
    assert "the limit of a run is 2000000 tokens" in capped.found
    refused = local(tmp_path, provider, LIMITS__UNKNOWN_PRICE="refuse")
    assert "every run is refused" in examined("model", refused).found
    assert provider.requests == []


def test_it_is_asked_only_where_that_was_allowed_and_the_cost_is_told(
    tmp_path: Path, provider: FakeProvider
) -> None:
    case = local(tmp_path, provider, **PRICES)
    assert examined("model", case).found == "openai/scripted, price known"
    assert provider.requests == []
    told = examined("model", replace(case, spends=True))
    assert told.status is CheckStatus.OK
    assert told.found.endswith(" for $0.000140")
    assert len(provider.requests) == 1


def test_a_key_that_is_not_accepted_is_told(
    tmp_path: Path, provider: FakeProvider
) -> None:
    case = local(tmp_path, provider, **PRICES, LLM__API_KEY="sk-wrong")
    told = examined("model", replace(case, spends=True))
    assert told.status is CheckStatus.FAILED
    assert told.fix.startswith("set LLM_API_KEY")
    assert "sk-wrong" not in told.found
