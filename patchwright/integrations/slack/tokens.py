"""The bot tokens of workspaces, and where they come from."""

from typing import Protocol

from pydantic import SecretStr

from patchwright.core.types.base import Value
from patchwright.core.types.errors import SettingsError


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
