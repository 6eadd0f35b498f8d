"""Complete the settings with the GitHub App that was created for this service."""

import socket
from collections.abc import Iterator
from contextlib import closing, contextmanager

import structlog

from patchwright.core.clock import Clock, SystemClock
from patchwright.core.errors import SettingsError
from patchwright.core.settings.model import Settings
from patchwright.integrations.github.app import NewApp, convert
from patchwright.integrations.github.configured import make_github_connection
from patchwright.integrations.github.credentials import (
    GitHubAppStore,
    with_app_settings,
)
from patchwright.workers.compose import key_ring, open_database
from patchwright.workers.db.upgrade import upgrade
from patchwright.workers.store.secrets import SecretStore
from patchwright.workers.web.setup_pages import (
    SETUP_PATH,
    SetupPages,
    SetupVisitors,
    serve_setup,
)

_NOT_SET_UP = (
    "github: not configured, and there is no App yet; open the link in the log of "
    f"the web process (`setup_needed`, {SETUP_PATH}), or set "
    "PATCHWRIGHT_GITHUB__TOKEN, or PATCHWRIGHT_GITHUB__APP_ID and "
    "PATCHWRIGHT_GITHUB__PRIVATE_KEY_FILE; then start again"
)

log = structlog.get_logger(__name__)


def with_stored_app(settings: Settings) -> Settings:
    """Complete the settings; raises `SettingsError` where no App was made yet.

    What is configured wins over what is stored.
    """
    if settings.github.is_configured:
        return settings
    with _opened_store(settings, SystemClock()) as store:
        app = store.fetch()
    if app is None:
        raise SettingsError(_NOT_SET_UP)
    return with_app_settings(settings, app)


def with_github_app(settings: Settings, server_socket: socket.socket) -> Settings:
    """Complete the settings; where no App was made yet, let somebody make one.

    Meanwhile the set-up pages are served from the socket, which stays open.
    """
    if settings.github.is_configured:
        return settings
    clock = SystemClock()
    with _opened_store(settings, clock) as store:
        if store.fetch() is None:
            _wait_for_new_app(settings, store, clock, server_socket)
        app = store.fetch()
    if app is None:
        raise SettingsError(_NOT_SET_UP)
    return with_app_settings(settings, app)


@contextmanager
def _opened_store(settings: Settings, clock: Clock) -> Iterator[GitHubAppStore]:
    with closing(open_database(settings)) as database:
        upgrade(database)
        secrets = SecretStore(database, key_ring(settings, database), clock)
        yield GitHubAppStore(secrets, settings.github.api_url)


def _wait_for_new_app(
    settings: Settings,
    store: GitHubAppStore,
    clock: Clock,
    server_socket: socket.socket,
) -> None:
    """Serve the set-up pages until there is an App."""
    connection = make_github_connection(settings.github)

    def register(code: str) -> NewApp:
        app = convert(connection, code, clock)
        store.put(app)
        return app

    public_url = settings.server.public_url
    visitors = SetupVisitors(settings.security.admin_token, clock)
    site = SetupPages(
        web_url=settings.github.web_url,
        public_url=public_url,
        mention=settings.github.mention,
        visitors=visitors,
        register=register,
        is_done=lambda: store.fetch() is not None,
    )
    log.warning("setup_needed", url=_link(public_url, server_socket, visitors.once))
    serve_setup(site, server_socket)


def _link(public_url: str, server_socket: socket.socket, key: str) -> str:
    host, port = server_socket.getsockname()[:2]
    base = public_url or f"http://{host}:{port}"
    return f"{base}{SETUP_PATH}" + (f"?key={key}" if key else "")
