"""The check of the model: what it says for nothing, and for money."""

import socket
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from patchwright.core.doctor import (
    CheckContext,
    CheckStatus,
    failed,
    ok,
    warning,
)
from patchwright.core.llm.library import load_litellm
from tests.adapters.doctor.cases import case_of, examined
from tests.fakes.llm.provider import FakeProvider
from tests.fakes.llm.turns import say
from tests.provision.servers import free_port

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


@pytest.fixture
def internet(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Let a proxy stand for the way to every host."""
    with socket.create_server(("127.0.0.1", 0)) as proxy:
        address = f"http://127.0.0.1:{proxy.getsockname()[1]}"
        monkeypatch.setenv("HTTPS_PROXY", address)
        monkeypatch.setenv("https_proxy", address)
        yield


@pytest.fixture(autouse=True)
def _no_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "OPENAI_API_KEY"):
        monkeypatch.delenv(name, raising=False)


def test_no_model_and_one_without_a_key_are_told(tmp_path: Path) -> None:
    assert examined("model", case_of(tmp_path)) == failed(
        "no model is chosen",
        "set LLM_MODEL, for example to anthropic/claude-sonnet-4-5, and LLM_API_KEY",
    )
    case = case_of(tmp_path, LLM__MODEL="anthropic/claude-haiku-4-5")
    assert examined("model", case) == failed(
        "no API key for anthropic", "set ANTHROPIC_API_KEY or LLM_API_KEY"
    )


@pytest.mark.usefixtures("internet")
def test_the_providers_own_variable_is_a_key(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANTHROPIC_AUTH_TOKEN", "of-a-gateway")
    case = case_of(tmp_path, LLM__MODEL="anthropic/claude-haiku-4-5")
    assert examined("model", case).status is CheckStatus.OK


def test_a_provider_that_nobody_knows_is_told_with_the_nearest(tmp_path: Path) -> None:
    case = case_of(tmp_path, LLM__MODEL="antropic/claude", LLM__API_KEY="sk-1")
    assert examined("model", case) == failed(
        "unknown provider `antropic`; did you mean `anthropic`?",
        "set LLM_MODEL to anthropic/claude",
    )


@pytest.mark.usefixtures("internet")
def test_a_known_model_with_a_key_has_a_price(tmp_path: Path) -> None:
    case = case_of(tmp_path, LLM__MODEL="openai/gpt-4o", LLM__API_KEY="sk-1")
    assert examined("model", case) == ok(
        "openai/gpt-4o, price known; api.openai.com can be reached"
    )


def test_a_provider_that_cannot_be_reached_is_a_failure(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("HTTPS_PROXY", "https_proxy"):
        monkeypatch.setenv(name, f"http://127.0.0.1:{free_port()}")
    case = case_of(tmp_path, LLM__MODEL="openai/gpt-4o", LLM__API_KEY="sk-1")
    assert examined("model", case) == failed(
        "cannot reach the model at api.openai.com:443 (connection refused)",
        "check the proxy in the environment (https_proxy)",
    )


def test_a_server_of_ones_own_that_is_away_is_a_failure(tmp_path: Path) -> None:
    port = free_port()
    case = case_of(
        tmp_path,
        LLM__MODEL="openai/scripted",
        LLM__BASE_URL=f"http://127.0.0.1:{port}/v1",
        **PRICES,
    )
    assert examined("model", case) == failed(
        f"cannot reach the model at 127.0.0.1:{port} (connection refused)",
        "start the server, or correct LLM_BASE_URL",
    )


@pytest.mark.usefixtures("internet")
def test_a_name_that_is_in_no_table_is_told(tmp_path: Path) -> None:
    case = case_of(tmp_path, LLM__MODEL="openai/gtp-4o", LLM__API_KEY="sk-1", **PRICES)
    assert examined("model", case) == warning(
        "the model openai/gtp-4o is not in the price table; did you mean "
        "openai/gpt-4o?",
        "set LLM_MODEL to openai/gpt-4o, if it is misspelled",
    )


@pytest.mark.usefixtures("internet")
def test_a_spare_model_without_a_key_is_a_warning(tmp_path: Path) -> None:
    case = case_of(
        tmp_path,
        LLM__MODEL="openai/gpt-4o",
        LLM__API_KEY="sk-1",
        LLM__FALLBACKS='["other"]',
        LLM__OTHER__MODEL="antropic/claude",
    )
    assert examined("model", case) == warning(
        "unknown provider `antropic`; did you mean `anthropic`?",
        "set llm.other.model to anthropic/claude",
    )


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
    where = provider.base_url.removeprefix("http://").removesuffix("/v1")
    assert examined("model", case).found == (
        f"openai/scripted, price known; {where} can be reached"
    )
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
