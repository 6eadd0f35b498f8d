"""The bot tokens of workspaces, where they come from, and where they are kept."""

from typing import Final, Protocol

from pydantic import SecretStr

from patchwright.core.plugin_host import SecretVault
from patchwright.core.types.base import Value
from patchwright.core.types.errors import AuthenticationError, SettingsError
from patchwright.integrations.slack.text.actions import SERVICE


class SlackInstallation(Value):
    """The app in one workspace, or in all of an organization.

    `id` is the workspace's, or the organization's if it was installed for all.
    """

    id: str
    name: str
    token: SecretStr
    scopes: tuple[str, ...] = ()


class BotTokens(Protocol):
    """A way of authenticating; any thread may ask."""

    def token_of(self, installation: str) -> SecretStr:
        """Return a workspace's bot token; `AuthenticationError` if there is none."""
        ...


class StaticBotToken:
    """The token of the one workspace that is served."""

    def __init__(self, token: SecretStr) -> None:
        if not token.get_secret_value():
            raise SettingsError("slack.bot_token is empty")
        self._token = token

    def token_of(self, installation: str) -> SecretStr:  # noqa: ARG002 - serves them all
        return self._token


SLACK_OWNER: Final = SERVICE


class SlackInstallationStore:
    """Keeps them under the id of the workspace or organization."""

    def __init__(self, secrets: SecretVault) -> None:
        self._secrets = secrets

    def token_of(self, installation: str) -> SecretStr:
        found = self._secrets.fetch(installation, owner=SLACK_OWNER)
        if found is None:
            raise AuthenticationError(f"the app is not installed in {installation}")
        return found

    def ids(self) -> tuple[str, ...]:
        """Return the workspaces and organizations that have installed the app."""
        return self._secrets.names(SLACK_OWNER)

    def save(self, installation: SlackInstallation) -> None:
        self._secrets.put(installation.id, installation.token, owner=SLACK_OWNER)
