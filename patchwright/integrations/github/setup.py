"""How our App is made at GitHub, and where its credentials are kept, encrypted."""

import json
from contextlib import closing
from datetime import datetime, timedelta
from typing import Final

import structlog
from pydantic import SecretStr

from patchwright.core.plugin import AppOffer, RegisteredApp
from patchwright.core.plugin_host import SecretVault
from patchwright.core.settings.model import Settings, with_section
from patchwright.core.system.clock import Clock
from patchwright.core.types.errors import ServiceError
from patchwright.integrations.github.app import (
    PERMISSIONS,
    NewApp,
    convert,
    is_organization,
    manifest,
    registration_url,
)
from patchwright.integrations.github.compose import connect
from patchwright.integrations.github.configured import make_github_connection
from patchwright.integrations.github.settings import GitHubSettings

_NAME = "github-app"
_SLUG_NAME: Final = "github-app-slug"
# Somebody may rename the App.
_SLUG_LIFE: Final = timedelta(days=1)
_BOT: Final = "[bot]"

log = structlog.get_logger(__name__)


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


class SlugStore:
    """Keeps the name of each App, so that a start need not wait for GitHub."""

    def __init__(self, secrets: SecretVault, api_url: str, app_id: str) -> None:
        self._secrets = secrets
        self._owner = f"{api_url} {app_id}"

    def put(self, slug: str, now: datetime) -> None:
        text = SecretStr(f"{now.isoformat()} {slug}")
        self._secrets.put(_SLUG_NAME, text, owner=self._owner)

    def fetch(self) -> tuple[datetime, str] | None:
        """Return since when which name is known."""
        text = self._secrets.fetch(_SLUG_NAME, owner=self._owner)
        if text is None:
            return None
        at, _, slug = text.get_secret_value().partition(" ")
        return datetime.fromisoformat(at), slug


def with_own_mention(
    settings: Settings, secrets: SecretVault, clock: Clock
) -> Settings:
    """Return the settings with the App's own name as the mention, if none is set.

    While GitHub does not answer, that is the name that it had before.
    """
    github = GitHubSettings.of(settings)
    if not github.app_id or github.has_set_mention:
        return settings
    slug = _find_slug(settings, secrets, clock)
    return (
        with_section(settings, github.replace(mention=f"@{slug}")) if slug else settings
    )


def _find_slug(settings: Settings, secrets: SecretVault, clock: Clock) -> str:
    github, now = GitHubSettings.of(settings), clock.now()
    store = SlugStore(secrets, github.api_url, github.app_id)
    known_at, known = store.fetch() or (None, "")
    if known_at and now - known_at < _SLUG_LIFE:
        return known
    try:
        with closing(connect(settings, secrets, clock)) as connected:
            identity = connected.fetch_identity()
    except ServiceError as error:
        log.warning(
            "mention_unknown",
            reason=error.reason,
            error=str(error),
            mention=f"@{known}" if known else github.mention,
        )
        return known
    slug = identity.login.removesuffix(_BOT) if identity else ""
    if slug:
        store.put(slug, now)
    return slug or known


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
        self._secrets = secrets
        self._store = GitHubAppStore(secrets, self._github.api_url)

    def fetch_settings(self) -> Settings | None:
        app = self._store.fetch()
        return with_app_settings(self._settings, app) if app else None

    def offer(self, public_url: str, organization: str, state: str) -> AppOffer | None:
        if organization and not is_organization(organization):
            return None
        described = manifest(
            self._github.mention.lstrip("@/"), public_url, self._github.webhook_url
        )
        return AppOffer(
            address=registration_url(self._github.web_url, organization, state),
            manifest=json.dumps(described),
            permissions=PERMISSIONS,
        )

    def register(self, code: str) -> RegisteredApp:
        connection = make_github_connection(self._github)
        app = convert(connection, code, self._clock)
        self._store.put(app)
        slugs = SlugStore(self._secrets, self._github.api_url, str(app.id))
        slugs.put(app.slug, self._clock.now())
        return RegisteredApp(
            id=str(app.id),
            slug=app.slug,
            mention=self._mention_of(app),
            install_url=app.install_url,
        )

    def _mention_of(self, app: NewApp) -> str:
        is_set = self._github.has_set_mention
        return self._github.mention if is_set else f"@{app.slug}"
