"""The tokens that workspaces of Slack gave us, encrypted."""

from typing import Final

from pydantic import SecretStr

from patchwright.core.errors import AuthenticationError
from patchwright.integrations.slack.actions import SERVICE
from patchwright.integrations.slack.tokens import Installation
from patchwright.workers.store.secrets import SecretStore

OWNER: Final = SERVICE


class StoredInstallations:
    """Keeps them under the id of the workspace or organization."""

    def __init__(self, secrets: SecretStore) -> None:
        self._secrets = secrets

    def token_of(self, installation: str) -> SecretStr:
        found = self._secrets.fetch(installation, owner=OWNER)
        if found is None:
            raise AuthenticationError(f"the app is not installed in {installation}")
        return found

    def ids(self) -> tuple[str, ...]:
        """Return the workspaces and organizations that have installed the app."""
        return self._secrets.names(OWNER)

    def save(self, installation: Installation) -> None:
        self._secrets.put(installation.id, installation.token, owner=OWNER)
