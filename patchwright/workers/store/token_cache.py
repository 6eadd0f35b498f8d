"""Installation tokens, shared between processes, encrypted in the database."""

from datetime import UTC, datetime

from pydantic import SecretStr

from patchwright.core.crypto import DecryptionError
from patchwright.integrations.github.auth import InstallationToken
from patchwright.workers.store.secrets import SecretStore


class InstallationTokenStore:
    """A `TokenCache`. A token that cannot be read any more is minted anew."""

    def __init__(self, secrets: SecretStore) -> None:
        self._secrets = secrets

    def fetch(self, name: str) -> InstallationToken | None:
        try:
            stored = self._secrets.fetch(name)
        except DecryptionError:
            return None
        if stored is None:
            return None
        expires_at, _, token = stored.get_secret_value().partition(" ")
        return InstallationToken(
            token=SecretStr(token),
            expires_at=datetime.fromisoformat(expires_at).astimezone(UTC),
        )

    def put(self, name: str, token: InstallationToken) -> None:
        text = f"{token.expires_at.isoformat()} {token.token.get_secret_value()}"
        self._secrets.put(name, SecretStr(text), token.expires_at)
