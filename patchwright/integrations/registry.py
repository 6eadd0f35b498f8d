"""The services that come with Patchwright, each a line of one list."""

from typing import Final

from patchwright.core.plugin import Plugin, ServiceDirectory
from patchwright.core.settings.model import Settings
from patchwright.core.types.errors import SettingsError
from patchwright.integrations.github import plugin as github
from patchwright.integrations.gitlab import plugin as gitlab
from patchwright.integrations.jira import plugin as jira
from patchwright.integrations.linear import plugin as linear
from patchwright.integrations.oidc.claims import OIDC
from patchwright.integrations.slack import plugin as slack

Plugins = tuple[Plugin, ...]

PLUGINS: Final[Plugins] = (
    github.PLUGIN,
    gitlab.PLUGIN,
    slack.PLUGIN,
    jira.PLUGIN,
    linear.PLUGIN,
)


def find_forge(settings: Settings, plugins: Plugins = PLUGINS) -> Plugin:
    """Return the service where the code is: the one that was chosen or is configured.

    Raises `SettingsError` if the chosen one has no code.
    """
    forges = list_forges(plugins)
    if settings.forge:
        chosen = next((one for one in forges if one.name == settings.forge), None)
        if chosen is None:
            names = " or ".join(one.name for one in forges)
            raise SettingsError(
                f"forge: unknown service {settings.forge!r}; use {names}"
            )
        return chosen
    configured = (one for one in forges if one.describe(settings).is_configured)
    found = next(configured, forges[0] if forges else None)
    if found is None:
        raise SettingsError("no plug-in has a forge")
    return found


def list_forges(plugins: Plugins = PLUGINS) -> Plugins:
    """Return the services where code is."""
    return tuple(one for one in plugins if one.connect_forge)


def describe_services(
    settings: Settings, plugins: Plugins = PLUGINS
) -> ServiceDirectory:
    """Return what other code may know of them, whether they are configured or not."""
    return ServiceDirectory(
        forge=find_forge(settings, plugins).describe(settings),
        chats={one.name: one.describe(settings) for one in plugins if one.connect_chat},
    )


def find_plugin(name: str, plugins: Plugins = PLUGINS) -> Plugin | None:
    return next((one for one in plugins if one.name == name), None)


def host_name(service: str, host: str) -> str:
    """Return how people call the place in a service where somebody is."""
    plugin = find_plugin(service)
    return f"{plugin.host_word} {host}".lstrip() if plugin else host


def service_title(name: str) -> str:
    """Return how people call a service."""
    if name == OIDC:
        return "single sign-on"
    plugin = find_plugin(name)
    return plugin.title if plugin else name
