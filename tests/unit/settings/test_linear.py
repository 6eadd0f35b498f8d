"""Settings of Linear: what must be set together, and what is read from them."""

from pathlib import Path

import pytest

from patchwright.core.settings.model import Settings
from patchwright.core.types.errors import SettingsError
from patchwright.integrations.linear.plugin import describe
from patchwright.integrations.linear.settings import LinearSettings
from patchwright.integrations.settings import load_settings, service_errors

LINEAR = "PATCHWRIGHT_LINEAR__"
TOKEN = {f"{LINEAR}TOKEN": "lin_api_1"}
HOOK = {f"{LINEAR}WEBHOOK_SECRET": "h"}
CLIENT_ID = {f"{LINEAR}CLIENT_ID": "1"}
CLIENT = CLIENT_ID | {f"{LINEAR}CLIENT_SECRET": "c"}
NO_POLLING = {f"{LINEAR}POLL_SECONDS": "0"}


def read(environ: dict[str, str]) -> Settings:
    model = {"LLM_MODEL": "openai/x"}
    return load_settings(model | environ, flags={}, cwd=Path("/nonexistent"))


@pytest.mark.parametrize(
    "environ", [TOKEN, TOKEN | HOOK, TOKEN | HOOK | NO_POLLING, CLIENT | HOOK]
)
def test_a_whole_configuration_is_accepted(environ: dict[str, str]) -> None:
    assert service_errors(read(environ)) == ()


@pytest.mark.parametrize(
    ("environ", "expected"),
    [
        (HOOK, "linear.token: "),
        (TOKEN | CLIENT | HOOK, "linear.token: a token is for one workspace"),
        (CLIENT_ID | HOOK, "linear.client_secret: "),
        (CLIENT, "linear.webhook_secret: "),
        (TOKEN | NO_POLLING, "linear.webhook_secret: "),
    ],
)
def test_half_a_configuration_is_refused(
    environ: dict[str, str], expected: str
) -> None:
    [error] = service_errors(read(environ))
    assert error.startswith(expected)


@pytest.mark.parametrize(
    ("key", "value", "expected"),
    [
        ("API_URL", "https://api.linear.app/v2", "the path /v2 is not part"),
        ("MENTION", "patchwright", "linear.mention"),
        ("TEAMS", '{"ENG": "shop"}', "expected a repository such as owner/name"),
    ],
)
def test_a_wrong_value_is_refused(key: str, value: str, expected: str) -> None:
    with pytest.raises(SettingsError, match=expected):
        read(TOKEN | {f"{LINEAR}{key}": value})


def test_a_project_or_team_is_found_in_any_case() -> None:
    settings = LinearSettings.model_validate(
        {"teams": {"ENG": "acme/shop", "Web Shop": "acme/web"}}
    )
    assert settings.repository_of("", "eng") == "acme/shop"
    assert settings.repository_of("web shop", "ENG") == "acme/web"
    assert settings.repository_of("Other", "OPS") == ""


def test_issues_are_known_by_their_keys_in_the_first_workspace() -> None:
    environ = TOKEN | {f"{LINEAR}WORKSPACES": '["*", "acme"]'}
    profile = describe(read(environ))
    assert profile.ticket_host == "acme"
    assert profile.ticket_url == "https://linear.app/acme/issue/{id}"
    assert describe(read(TOKEN)).ticket_host == ""
