"""Credentials of our App at GitHub, encrypted by the service."""

import json
from datetime import UTC, datetime

from pydantic import SecretStr

from patchwright.core.crypto import DecryptionError
from patchwright.core.plugin import SecretVault
from patchwright.core.settings.model import Settings
from patchwright.integrations.github.app import NewApp
from patchwright.integrations.github.auth import InstallationToken

_NAME = "github-app"


class GitHubAppStore:
    """Keeps the one App of one GitHub: that of another GitHub would be no use."""

    def __init__(self, secrets: SecretVault, api_url: str) -> None:
        self._secrets = secrets
        self._api_url = api_url

    def put(self, app: NewApp) -> None:
        facts = app.model_dump(by_alias=True)
        text = json.dumps({name: _reveal(value) for name, value in facts.items()})
        self._secrets.put(_NAME, SecretStr(text), owner=self._api_url)

    def fetch(self) -> NewApp | None:
        """Return the App if there is one; `DecryptionError` if it cannot be read."""
        text = self._secrets.fetch(_NAME, owner=self._api_url)
        if text is None:
            return None
        return NewApp.model_validate_json(text.get_secret_value())


def with_app_settings(settings: Settings, app: NewApp) -> Settings:
    """Return the settings with what nobody wrote down, as the App has it."""
    github = settings.github.replace(
        app_id=str(app.id),
        private_key=app.private_key,
        webhook_secret=(app.webhook_secret,),
    )
    if not github.client_id:
        github = github.replace(
            client_id=app.client_id, client_secret=app.client_secret
        )
    return settings.replace(github=github)


def _reveal(value: object) -> object:
    return value.get_secret_value() if isinstance(value, SecretStr) else value


class InstallationTokenStore:
    """A `TokenCache`. A token that cannot be read any more is created again."""

    def __init__(self, secrets: SecretVault) -> None:
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
