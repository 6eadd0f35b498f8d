"""Print a new link to the pages on which the App is created."""

from contextlib import closing
from typing import Final

import typer

from patchwright.core.system.clock import SystemClock
from patchwright.core.types.errors import SettingsError
from patchwright.core.webhook_address import describe_address_problem
from patchwright.integrations.registry import find_forge
from patchwright.integrations.settings import load_settings_here
from patchwright.workers.compose import open_database, open_secrets
from patchwright.workers.db.database import database_errors
from patchwright.workers.db.upgrade import upgrade
from patchwright.workers.web.setup_access import (
    SetupLinks,
    SetupVisitors,
    setup_url,
)

_WITH_KEY: Final = (
    "Open it in a browser while `patchwright serve` runs. It expires after 15 minutes "
    "and works in one browser. Earlier links no longer work."
)
_FOR_ADMINS: Final = (
    "Open it in a browser while `patchwright serve` runs, and enter "
    "security.admin_token."
)


def print_setup_link() -> None:
    """Print the link on standard output, and how to use it on standard error."""
    settings, clock = load_settings_here(), SystemClock()
    plugin = find_forge(settings)
    service, public_url = plugin.describe(settings), settings.server.public_url
    if service.is_configured or plugin.make_setup is None:
        raise SettingsError(
            f"{plugin.name} is configured in the settings, so no App is created"
        )
    problem = service.find_address_problem(public_url)
    if problem is not None:
        raise SettingsError(
            f"{describe_address_problem(problem, public_url)} {service.title} cannot "
            "send webhooks to it; `patchwright serve` names three ways to be reachable"
        )
    with closing(open_database(settings)) as database, database_errors():
        upgrade(database)
        secrets = open_secrets(settings, database, clock)
        if plugin.make_setup(settings, secrets, clock).fetch_settings() is not None:
            raise SettingsError(
                f"there is a {plugin.title} App already, so no link is needed; sign in "
                f"at {public_url}/setup to check the service, or run `patchwright "
                "doctor`"
            )
        links = SetupLinks(secrets, plugin.name, clock)
        key = SetupVisitors(settings.security.admin_token, links, clock).new_key()
    typer.echo(setup_url(public_url, plugin.name, key))
    typer.echo(_WITH_KEY if key else _FOR_ADMINS, err=True)
