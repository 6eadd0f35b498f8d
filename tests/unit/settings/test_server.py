"""The address under which people reach the service."""

from pathlib import Path

import pytest

from patchwright.integrations.settings import load_settings


@pytest.mark.parametrize("typed", ["https://bot.test/under", "https://bot.test/under/"])
def test_the_public_address_ends_before_a_slash(typed: str, tmp_path: Path) -> None:
    environment = {"PATCHWRIGHT_SERVER__PUBLIC_URL": typed}
    settings = load_settings(environment, flags={}, cwd=tmp_path)
    assert settings.server.public_url == "https://bot.test/under"
