"""The table of providers is what litellm says, and says what a command must know."""

import pytest

from patchwright.core.llm.library import load_litellm
from patchwright.core.llm.providers import known_providers
from tests.reference.providers_table import PROVIDERS_FILE, providers_table


@pytest.fixture(autouse=True)
def _quiet_litellm() -> None:
    # With each test pytest forgets which of its warnings are none.
    load_litellm.cache_clear()
    load_litellm()


def test_the_table_is_up_to_date() -> None:
    assert PROVIDERS_FILE.read_text() == providers_table(), "run: make reference"


@pytest.mark.parametrize(
    ("name", "keys", "url"),
    [
        (
            "anthropic",
            ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN"),
            "https://api.anthropic.com",
        ),
        ("openai", ("OPENAI_API_KEY",), "https://api.openai.com"),
        ("groq", ("GROQ_API_KEY",), "https://api.groq.com"),
        # A role of the machine can stand for a key, and a local server needs none.
        ("bedrock", (), ""),
        ("azure", (), ""),
        ("ollama", (), ""),
    ],
)
def test_a_provider_has_its_keys_and_its_address(
    name: str, keys: tuple[str, ...], url: str
) -> None:
    found = known_providers()[name]
    assert (found.keys, found.url) == (keys, url)


def test_no_provider_is_asked_for_what_is_no_credential() -> None:
    for provider in known_providers().values():
        assert all(key.endswith(("_KEY", "_TOKEN")) for key in provider.keys), provider
