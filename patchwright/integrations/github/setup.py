"""How our App is made at GitHub, and where its credentials are kept, encrypted."""

import json

from pydantic import SecretStr

from patchwright.core.plugin import AppOffer, RegisteredApp
from patchwright.core.plugin_host import SecretVault
from patchwright.core.settings.model import Settings, with_section
from patchwright.core.system.clock import Clock
from patchwright.integrations.github.app import (
    PERMISSIONS,
    NewApp,
    convert,
    is_organization,
    manifest,
    registration_url,
)
from patchwright.integrations.github.configured import make_github_connection
from patchwright.integrations.github.settings import GitHubSettings

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
    github = GitHubSettings.of(settings).replace(
        app_id=str(app.id),
        private_key=app.private_key,
        webhook_secret=(app.webhook_secret,),
    )
    if not github.client_id:
        github = github.replace(
            client_id=app.client_id, client_secret=app.client_secret
        )
    return with_section(settings, github)


def _reveal(value: object) -> object:
    return value.get_secret_value() if isinstance(value, SecretStr) else value


class GitHubSetup:
    """An `AppSetup`: GitHub makes the App of a manifest, and tells its secrets once."""

    alternative = (
        "PATCHWRIGHT_GITHUB__TOKEN, or PATCHWRIGHT_GITHUB__APP_ID and "
        "PATCHWRIGHT_GITHUB__PRIVATE_KEY_FILE"
    )

    def __init__(self, settings: Settings, secrets: SecretVault, clock: Clock) -> None:
        self._settings = settings
        self._github = GitHubSettings.of(settings)
        self._clock = clock
        self._store = GitHubAppStore(secrets, self._github.api_url)

    def fetch_settings(self) -> Settings | None:
        app = self._store.fetch()
        return with_app_settings(self._settings, app) if app else None

    def offer(self, public_url: str, organization: str, state: str) -> AppOffer | None:
        if organization and not is_organization(organization):
            return None
        name = self._github.mention.lstrip("@")
        return AppOffer(
            address=registration_url(self._github.web_url, organization, state),
            manifest=json.dumps(manifest(name, public_url)),
            permissions=PERMISSIONS,
        )

    def register(self, code: str) -> RegisteredApp:
        connection = make_github_connection(self._github)
        app = convert(connection, code, self._clock)
        self._store.put(app)
        return RegisteredApp(id=str(app.id), slug=app.slug, install_url=app.install_url)
