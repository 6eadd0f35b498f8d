"""The GitHub App that was made for this service, encrypted in the database."""

import json

from pydantic import SecretStr

from patchwright.core.settings.model import Settings
from patchwright.integrations.github.manifest import NewApp
from patchwright.workers.store.secrets import SecretStore

_NAME = "github-app"


class GitHubAppStore:
    """Keeps the one App of one GitHub: that of another GitHub would be no use."""

    def __init__(self, secrets: SecretStore, api_url: str) -> None:
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
