"""Find the App that was made for the service, and the other secrets it has stored."""

from sqlalchemy.exc import SQLAlchemyError

from patchwright.core.clock import Clock
from patchwright.core.errors import PatchwrightError
from patchwright.core.settings.model import Settings
from patchwright.workers.compose import KEY_FILE, key_ring
from patchwright.workers.db.database import Database
from patchwright.workers.db.existing import open_existing
from patchwright.workers.store.github_app import GitHubAppStore, with_app_settings
from patchwright.workers.store.secrets import SecretStore


def secret_store(
    settings: Settings, database: Database, clock: Clock
) -> SecretStore | None:
    """Return the stored secrets with our keys; None while there is no key at all."""
    has_own = (settings.state_dir / KEY_FILE).exists()
    if database.is_sqlite and not settings.security.encryption_keys and not has_own:
        return None
    return SecretStore(database, key_ring(settings, database), clock)


def with_registered_app(settings: Settings, clock: Clock) -> Settings:
    """Complete the settings by the App that was made for the service, if one was.

    Where that cannot be found out, a check says why.
    """
    if settings.github.is_configured:
        return settings
    try:
        with open_existing(settings.database.url.get_secret_value()) as database:
            store = database and secret_store(settings, database, clock)
            app = store and GitHubAppStore(store, settings.github.api_url).fetch()
    except (PatchwrightError, SQLAlchemyError, OSError):
        return settings
    return with_app_settings(settings, app) if app else settings
