"""Complete the settings with the app that was made for this service at its forge."""

import socket
from contextlib import closing

import structlog

from patchwright.core.clock import Clock, SystemClock
from patchwright.core.errors import SettingsError
from patchwright.core.plugin import AppSetup, ServiceProfile
from patchwright.core.settings.model import Settings
from patchwright.integrations.registry import find_forge
from patchwright.workers.compose import open_database, open_secrets
from patchwright.workers.db.upgrade import upgrade
from patchwright.workers.web.setup_pages import (
    SetupPages,
    SetupVisitors,
    serve_setup,
    setup_path,
)

log = structlog.get_logger(__name__)


def with_stored_app(settings: Settings) -> Settings:
    """Complete the settings; raises `SettingsError` where no app was made yet.

    What is configured wins over what is stored.
    """
    return _completed(settings, None)


def with_new_app(settings: Settings, server_socket: socket.socket) -> Settings:
    """Complete the settings; where no app was made yet, let somebody make one.

    Meanwhile the set-up pages are served from the socket, which stays open.
    """
    return _completed(settings, server_socket)


def _completed(settings: Settings, server_socket: socket.socket | None) -> Settings:
    plugin = find_forge(settings)
    profile = plugin.describe(settings)
    if profile.is_configured or plugin.make_setup is None:
        return settings
    clock = SystemClock()
    with closing(open_database(settings)) as database:
        upgrade(database)
        secrets = open_secrets(settings, database, clock)
        setup = plugin.make_setup(settings, secrets, clock)
        if server_socket is not None and setup.fetch_settings() is None:
            _wait_for_new_app(settings, profile, setup, clock, server_socket)
        found = setup.fetch_settings()
    if found is None:
        raise SettingsError(
            f"{profile.name}: not configured, and no App was made yet; open the link "
            f"that the web process logs (`setup_needed`, {setup_path(profile.name)}), "
            f"or set {setup.alternative}; then start again"
        )
    return found


def _wait_for_new_app(
    settings: Settings,
    service: ServiceProfile,
    setup: AppSetup,
    clock: Clock,
    server_socket: socket.socket,
) -> None:
    """Serve the set-up pages until there is an app."""
    visitors = SetupVisitors(settings.security.admin_token, clock)
    site = SetupPages(service, settings.server.public_url, visitors, setup)
    log.warning("setup_needed", url=_link(site, server_socket))
    serve_setup(site, server_socket)


def _link(site: SetupPages, server_socket: socket.socket) -> str:
    host, port = server_socket.getsockname()[:2]
    base = site.public_url or f"http://{host}:{port}"
    key = site.visitors.once
    return f"{base}{setup_path(site.service.name)}" + (f"?key={key}" if key else "")
