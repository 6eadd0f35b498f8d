"""Which provider a model has, found without litellm."""

import pytest

from patchwright.core.llm.providers import (
    find_provider,
    has_price_row,
    nearest_model,
    nearest_provider,
)


@pytest.mark.parametrize(
    ("model", "provider", "is_priced"),
    [
        ("anthropic/claude-sonnet-4-5", "anthropic", True),
        ("claude-sonnet-4-5", "anthropic", True),
        ("gpt-4o", "openai", True),
        ("openai/gpt-4o", "openai", True),
        ("gemini/gemini-2.5-pro", "gemini", True),
        ("openai/my-own", "openai", False),
        ("ollama/qwen", "ollama", False),
    ],
)
def test_a_model_has_its_provider(
    model: str, provider: str, *, is_priced: bool
) -> None:
    found = find_provider(model)
    assert found is not None
    assert found.name == provider
    assert has_price_row(model, found) is is_priced


@pytest.mark.parametrize("model", ["antropic/claude", "claude-9", "meta-llama/Llama-3"])
def test_what_litellm_would_refuse_has_none(model: str) -> None:
    assert find_provider(model) is None


def test_the_nearest_name_is_one_that_is_similar() -> None:
    assert nearest_provider("antropic") == "anthropic"
    assert nearest_provider("opnai") == "openai"
    assert nearest_provider("zzzzzz") is None
    provider = find_provider("anthropic/x")
    assert provider is not None
    near = nearest_model("anthropic/claude-sonet-4-5", provider)
    assert near == "anthropic/claude-sonnet-4-5"
    assert nearest_model("anthropic/qqqqqq", provider) is None
