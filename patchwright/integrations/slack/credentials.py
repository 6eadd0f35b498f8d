"""The app's tokens of the workspaces that installed it, encrypted by the service."""

from typing import Final

from pydantic import SecretStr

from patchwright.core.errors import AuthenticationError
from patchwright.core.plugin_host import SecretVault
from patchwright.integrations.slack.actions import SERVICE
from patchwright.integrations.slack.tokens import SlackInstallation

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
